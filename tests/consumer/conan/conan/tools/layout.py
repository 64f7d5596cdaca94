def basic_layout(conanfile):
    conanfile.laid_out = True
