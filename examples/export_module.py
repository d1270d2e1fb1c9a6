#!/usr/bin/env python3
"""Writes what a PyTorch module is made of to JSON: its tree of modules, and its parameters and buffers with their names,
shapes and dtypes. Values are not written, and the module is built without memory for them where PyTorch can do that.

    python export_module.py torchvision.models:resnet50 -o resnet50.json
    python export_module.py mine.py:Net --kwargs '{"width": 64}' -o net.json
    shardscope simulate resnet50.json

From one's own program:

    from export_module import describe
    json.dump(describe(model, name="net"), open("net.json", "w"))

The file:

    format      "shardscope.module", version 1
    name, class what reports call it; the root's class
    modules     [full name, class] in registration order; the root's name is ""
    parameters  {name, shape, dtype, requires_grad}: each tensor once, under the name it was registered with first
    tied        lists of names that share one tensor
    buffers     {name, shape, dtype, persistent}

Shardscope reads parameters and ties; what the module computes is not in the file, so a model read from it has a matrix
product for each two-dimensional weight and nothing else (convolutions and attention are not counted). A tree that says
what runs is docs/model-tree.md.
"""

import argparse
import importlib
import importlib.util
import json
import pathlib
import sys

import torch


def dtype_of(tensor):
    return str(tensor.dtype).removeprefix("torch.")


def describe(module, name="module"):
    first, names = {}, {}
    for full, parameter in module.named_parameters(remove_duplicate=False):
        first.setdefault(id(parameter), (full, parameter))
        names.setdefault(id(parameter), []).append(full)
    temporary = {
        (prefix + "." if prefix else "") + leaf
        for prefix, inner in module.named_modules()
        for leaf in inner._non_persistent_buffers_set
    }
    return {
        "format": "shardscope.module",
        "version": 1,
        "name": name,
        "class": type(module).__name__,
        "modules": [[full, type(inner).__name__] for full, inner in module.named_modules()],
        "parameters": [
            {
                "name": full,
                "shape": list(parameter.shape),
                "dtype": dtype_of(parameter),
                "requires_grad": parameter.requires_grad,
            }
            for full, parameter in first.values()
        ],
        "tied": [group for group in names.values() if len(group) > 1],
        "buffers": [
            {
                "name": full,
                "shape": list(buffer.shape),
                "dtype": dtype_of(buffer),
                "persistent": full not in temporary,
            }
            for full, buffer in module.named_buffers()
        ],
    }


def load(where):
    """The function or class that `package.module:name` or `file.py:name` stands for."""
    place, _, name = where.rpartition(":")
    if not place:
        raise SystemExit(f"{where}: expected package.module:name or file.py:name")
    if place.endswith(".py"):
        spec = importlib.util.spec_from_file_location(pathlib.Path(place).stem, place)
        found = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(found)
    else:
        found = importlib.import_module(place)
    return getattr(found, name)


def main():
    parser = argparse.ArgumentParser(description="Write a PyTorch module's tree, names, shapes and dtypes to JSON.")
    parser.add_argument("module", help="package.module:name or file.py:name of a class or function that makes the module")
    parser.add_argument("--kwargs", default="{}", help="its keyword arguments, as JSON")
    parser.add_argument("--name", help="what reports call it")
    parser.add_argument("-o", "--output", help="the file; standard output without it")
    arguments = parser.parse_args()
    make, kwargs = load(arguments.module), json.loads(arguments.kwargs)
    try:
        with torch.device("meta"):
            module = make(**kwargs)
    except (NotImplementedError, RuntimeError):  # something in it needs values
        module = make(**kwargs)
    text = json.dumps(describe(module, arguments.name or arguments.module.rpartition(":")[2]), indent=1)
    if arguments.output:
        pathlib.Path(arguments.output).write_text(text + "\n")
    else:
        sys.stdout.write(text + "\n")


if __name__ == "__main__":
    main()
