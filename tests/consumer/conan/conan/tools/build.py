from conan.errors import ConanInvalidConfiguration


def check_min_cppstd(conanfile, cppstd):
    if int(conanfile.cppstd) < int(cppstd):
        raise ConanInvalidConfiguration(f"C++{conanfile.cppstd} is older than C++{cppstd}")
