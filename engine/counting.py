"""How a template is changed before it runs, so that what it spends can be counted; and the tag that Jinja lacks."""

from __future__ import annotations

from typing import Any

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.visitor import NodeTransformer

# Filters, because nothing else in a template is called as cheaply; by names that no template can write.
TICK, JOINED, BOUNDED = "%tick", "%joined", "%bounded"
# A macro's call takes as long as this many rounds of a loop.
MACRO_STEPS = 8


class Counting(NodeTransformer):
    """Has every round of a loop, call of a macro, joining and comparison of a template go through the sandbox."""

    def __init__(self, sandbox: jinja2.Environment) -> None:
        self._sandbox = sandbox

    def visit_For(self, node: nodes.For) -> nodes.Node:  # noqa: N802
        return self._counted(node, 1)

    def visit_Macro(self, node: nodes.Macro) -> nodes.Node:  # noqa: N802
        return self._counted(node, MACRO_STEPS)

    def visit_CallBlock(self, node: nodes.CallBlock) -> nodes.Node:  # noqa: N802
        return self._counted(node, MACRO_STEPS)

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        return self._filter(JOINED, nodes.List(node.nodes), node)

    def visit_Compare(self, node: nodes.Compare) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        node.expr = self._filter(BOUNDED, node.expr, node)
        return node

    def _counted(self, node: Any, steps: int) -> nodes.Node:
        written = sum(len(data.data) for data in node.find_all(nodes.TemplateData))
        self.generic_visit(node)
        tick = nodes.ExprStmt(self._filter(TICK, nodes.Const(steps), node, nodes.Const(written)))
        node.body.insert(0, tick.set_lineno(node.lineno).set_environment(self._sandbox))
        counted: nodes.Node = node
        return counted

    def _filter(self, name: str, value: nodes.Expr, node: nodes.Node, *arguments: nodes.Expr) -> nodes.Filter:
        made = nodes.Filter(value, name, [*arguments], [], None, None)
        made.set_lineno(node.lineno).set_environment(self._sandbox)
        return made


class Generation(Extension):
    """``{% generation %}``, by which templates mark for a trainer what an assistant says; here it marks nothing."""

    tags = {"generation"}  # noqa: RUF012 (as Jinja declares it)

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)
