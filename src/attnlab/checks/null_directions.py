"""Parameters that cannot learn in any implementation: softmax does not see a bias of the keys.

It shifts all scores of a query alike. Whatever the class calls it, its gradient is 0 and its value
changes no output; a class that has one is right.
"""

import torch

from attnlab.checks.promises import SILENT, Subject, tokens


def unseen_biases(subject: Subject) -> frozenset[str]:
    """Find the biases that no output depends on although the weight next to them learns."""
    layer, x = subject.layer(), tokens()
    parameters = dict(layer.named_parameters())
    before = layer(x, mask=subject.mask).out
    gradients = torch.autograd.grad(
        before.square().sum(), list(parameters.values()), allow_unused=True
    )
    largest = {
        name: None if gradient is None else float(gradient.abs().max())
        for name, gradient in zip(parameters, gradients, strict=True)
    }
    unseen = set()
    for name, bias in parameters.items():
        weight = largest.get(f"{name.removesuffix('bias')}weight") if name.endswith("bias") else 0
        own = largest[name]
        silent = own is not None and own < SILENT
        if not (weight and weight > SILENT and silent):
            continue
        with torch.no_grad():
            bias.add_(torch.linspace(-1, 1, bias.numel(), dtype=bias.dtype).view_as(bias))
            if float((layer(x, mask=subject.mask).out - before).abs().max()) < SILENT:
                unseen.add(name)
    return frozenset(unseen)
