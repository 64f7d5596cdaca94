"""As much of Conan 2 as coppice's recipe uses."""


class Reference:
    def __init__(self, text):
        self.name, self.version = text.split("/", 1)


class Component:
    def __init__(self):
        self.properties = {}
        self.requires = []
        self.includedirs = ["include"]
        self.bindirs = ["bin"]
        self.libdirs = ["lib"]

    def set_property(self, name, value):
        self.properties[name] = value


class CppInfo(Component):
    def __init__(self):
        super().__init__()
        self.components = Components()


class Components(dict):
    def __missing__(self, name):
        self[name] = Component()
        return self[name]


class Info:
    cleared = False

    def clear(self):
        self.cleared = True


class Options:
    def __init__(self, allowed, values):
        for name, value in values.items():
            if value not in allowed[name]:
                raise ValueError(f"option {name} cannot be {value}")
            setattr(self, name, value)


class ConanFile:
    def __init__(self, options, cppstd):
        self.options = Options(type(self).options, {**self.default_options, **options})
        self.cppstd = cppstd
        self.cpp_info = CppInfo()
        self.info = Info()
        self.required = []

    def requires(self, reference):
        self.required.append(Reference(reference))
