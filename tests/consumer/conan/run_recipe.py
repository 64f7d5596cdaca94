"""run_recipe.py RECIPE WORK ON|OFF

Runs the recipe as `conan create` would, from an export of its own and without Conan, and leaves in WORK/generators what
CMakeDeps would make of it: a coppice-config.cmake with the targets that the recipe names.
"""
import importlib.util
import os
import shutil
import sys

from conan.errors import ConanInvalidConfiguration

recipe, work, wire = sys.argv[1], sys.argv[2], sys.argv[3] == "ON"

PACKAGES = {"nlohmann_json": "nlohmann_json::nlohmann_json", "fmt": "fmt::fmt", "simdjson": "simdjson::simdjson"}


def check(holds, why):
    if not holds:
        sys.exit(f"{recipe}: {why}")


def load():
    spec = importlib.util.spec_from_file_location("recipe", recipe)
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    spec.loader.exec_module(module)
    return module.CoppiceConan


def files(folder):
    return sorted(os.path.relpath(os.path.join(at, name), folder) for at, _, names in os.walk(folder) for name in names)


def package(options, where):
    """The recipe after all its steps; each step sees the folders that Conan gives it."""
    conanfile = load()(options, "20")
    conanfile.recipe_folder = os.path.dirname(recipe)
    conanfile.export_sources_folder = conanfile.source_folder = os.path.join(where, "source")
    conanfile.package_folder = os.path.join(where, "package")
    conanfile.export_sources()
    conanfile.recipe_folder = None  # the tree is out of reach from here on
    conanfile.layout()
    conanfile.requirements()
    conanfile.validate()
    conanfile.package_id()
    conanfile.package()
    conanfile.package_info()
    return conanfile


shutil.rmtree(work, ignore_errors=True)
built = package({"wire": wire}, work)
other = package({"wire": not wire}, os.path.join(work, "other"))

check(built.package_type == "header-library", "is no header-library")
check(built.laid_out and built.info.cleared, "has no layout or an id that depends on settings")
check(files(built.package_folder) == files(other.package_folder), "packages of one id differ")
check("licenses/LICENSE" in files(built.package_folder), "the package has no licence")
check(load()({}, "20").options.wire is False, "the wire part is not for those who ask for it only")
try:
    load()({}, "17").validate()
    check(False, "takes C++17")
except ConanInvalidConfiguration:
    pass

required = {reference.name for reference in built.required}
check(required == set(PACKAGES) - (set() if wire else {"simdjson"}), f"requires {sorted(required)}")
info = built.cpp_info
names = {name: part.properties["cmake_target_name"] for name, part in info.components.items()}
check(info.properties["cmake_target_name"] not in names.values(), "the package's target is a component's")
pc_names = [part.properties["pkg_config_name"] for part in [info, *info.components.values()]]
check(len(set(pc_names)) == len(pc_names), f"two .pc files have one name: {pc_names}")

lines = ["include(CMakeFindDependencyMacro)"]
lines += [f"find_dependency({name} CONFIG)" for name in sorted(required)]
for name, part in info.components.items():
    check(part.bindirs == part.libdirs == [], f"component {name} has folders of libraries or programs")
    links = []
    for needed in part.requires:
        package_name = needed.split("::")[0]
        check("::" not in needed or package_name in required, f"component {name} needs {needed}, which is not required")
        links.append(PACKAGES[package_name] if "::" in needed else names[needed])
    folders = [os.path.join(built.package_folder, folder) for folder in part.includedirs]
    lines.append(f"add_library({names[name]} INTERFACE IMPORTED)")
    lines.append(f'target_include_directories({names[name]} INTERFACE "{";".join(folders)}")')
    lines.append(f"target_link_libraries({names[name]} INTERFACE {' '.join(links)})")

generators = os.path.join(work, "generators")
os.makedirs(generators)
with open(os.path.join(generators, f"{info.properties['cmake_file_name']}-config.cmake"), "w") as config:
    config.write("\n".join(lines) + "\n")
