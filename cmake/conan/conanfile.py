# SPDX-License-Identifier: MIT
# The recipe of the tree that it lies in: conan create cmake/conan -o "coppice/*:wire=True"
import os

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.files import copy
from conan.tools.layout import basic_layout

required_conan_version = ">=2.0"


class CoppiceConan(ConanFile):
    name = "coppice"
    version = "0.1.0"
    description = "Composable pruning policies for the message history of LLM agents"
    license = "MIT"
    topics = ("llm", "agents", "json", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"wire": [True, False]}
    default_options = {"wire": False}
    no_copy_source = True

    def export_sources(self):
        tree = os.path.join(self.recipe_folder, os.pardir, os.pardir)
        copy(self, "include/*", src=tree, dst=self.export_sources_folder)
        copy(self, "LICENSE", src=tree, dst=self.export_sources_folder)

    def layout(self):
        basic_layout(self)

    def requirements(self):
        self.requires("nlohmann_json/[>=3.11.2 <4]")
        self.requires("fmt/[>=9]")
        if self.options.wire:
            self.requires("simdjson/[>=3.0.1]")

    def validate(self):
        check_min_cppstd(self, 20)

    # One package for all: it holds the headers of the wire part with the option and without.
    def package_id(self):
        self.info.clear()

    def package(self):
        copy(self, "LICENSE", src=self.source_folder, dst=os.path.join(self.package_folder, "licenses"))
        copy(self, "*.hpp", src=os.path.join(self.source_folder, "include"),
             dst=os.path.join(self.package_folder, "include"))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "coppice")
        # The target and the file of the whole package, which link all components, take no component's name.
        self.cpp_info.set_property("cmake_target_name", "coppice::all")
        self.cpp_info.set_property("pkg_config_name", "coppice-all")
        core = self.cpp_info.components["coppice"]
        core.set_property("cmake_target_name", "coppice::coppice")
        core.set_property("pkg_config_name", "coppice")
        core.requires = ["nlohmann_json::nlohmann_json", "fmt::fmt"]
        parts = [core]
        if self.options.wire:
            wire = self.cpp_info.components["wire"]
            wire.set_property("cmake_target_name", "coppice::wire")
            wire.set_property("pkg_config_name", "coppice-wire")
            wire.requires = ["coppice", "simdjson::simdjson"]
            parts.append(wire)
        for part in parts:
            part.bindirs = []
            part.libdirs = []
