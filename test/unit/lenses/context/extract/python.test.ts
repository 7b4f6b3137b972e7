/** Python beside what the oracle compares (CX-060, CX-064, CX-065). */
import { describe, expect, it } from 'vitest'
import { conceptsOf, graphOf, linksOf, referencesOf } from '../../../../support/extracted.ts'

describe('Python', () => {
  it('reads the example of CX-060', async () => {
    const source = 'from .base import Base\nclass Store(Base):\n    def load(self): return parse()\n'
    expect(await conceptsOf('store.py', source)).toEqual(['Class Store', 'Method Store.load'])
    const references = await referencesOf('store.py', source)
    expect(references).toContain('Store EXTENDS Base')
    expect(references).toContain('Store.load CALLS parse')
  })

  it('reads nothing out of strings, docstrings and comments', async () => {
    const source = '"""class A: pass"""\ns = "def b(): pass"\n# class C: pass\nf"{x!r} def d(): pass"\n'
    expect(await conceptsOf('a.py', source)).toEqual([])
  })

  it('takes decorators as uses, docstrings as documentation', async () => {
    const graph = await graphOf({
      'a.py':
        'def wrap(f): return f\n\n@wrap\ndef go():\n    """Goes.\n\n    Far.\n    """\n\nclass K:\n    @wrap\n    def m(self): pass\n',
    })
    expect(linksOf(graph, 'USES')).toEqual(['a.py#go USES a.py#wrap 0.5', 'a.py#K.m USES a.py#wrap 0.5'])
    const go = graph.extraction('a.py')?.concepts.find(({ name }) => name === 'go')
    expect([go?.doc, go?.signature, go?.startLine, go?.endLine]).toEqual(['Goes.\n\nFar.', 'def go()', 3, 8])
  })

  it('finds modules relative, absolute and below src, and packages elsewhere', async () => {
    const graph = await graphOf({
      'src/pkg/__init__.py': '',
      'src/pkg/base.py': '',
      'src/pkg/sub/__init__.py': '',
      'src/pkg/sub/deep.py':
        'from ..base import x\nfrom . import other\nimport pkg.base\nimport requests.sessions\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .late import T\n',
      'src/pkg/sub/other.py': '',
      'src/pkg/sub/late.py': '',
      'run.py': 'import pkg\nfrom pkg import base\n',
    })
    expect(linksOf(graph, 'DEPENDS_ON')).toEqual([
      'run.py#run.py DEPENDS_ON src/pkg/__init__.py#src/pkg/__init__.py 1',
      'run.py#run.py DEPENDS_ON src/pkg/base.py#src/pkg/base.py 1',
      'src/pkg/sub/deep.py#src/pkg/sub/deep.py DEPENDS_ON requests 1',
      'src/pkg/sub/deep.py#src/pkg/sub/deep.py DEPENDS_ON typing 1',
      'src/pkg/sub/deep.py#src/pkg/sub/deep.py DEPENDS_ON src/pkg/base.py#src/pkg/base.py 1',
      'src/pkg/sub/deep.py#src/pkg/sub/deep.py DEPENDS_ON src/pkg/sub/__init__.py#src/pkg/sub/__init__.py 1',
      'src/pkg/sub/deep.py#src/pkg/sub/deep.py DEPENDS_ON src/pkg/sub/late.py#src/pkg/sub/late.py 0.5',
      'src/pkg/sub/deep.py#src/pkg/sub/deep.py DEPENDS_ON src/pkg/sub/other.py#src/pkg/sub/other.py 1',
    ])
  })

  it('links no method by its name alone', async () => {
    const graph = await graphOf({ 'a.py': 'class A:\n    def go(self): pass\n\ndef f(x):\n    x.go()\n    go()\n' })
    expect(linksOf(graph, 'CALLS')).toEqual([])
  })

  it('keeps names of comprehensions apart, and links nothing on a variable that is given different values', async () => {
    const source = `class A:
    def go(self): pass
class B:
    def go(self): pass
def each(a: list[A], b: list[B]):
    [x.go() for x in a]
    return {x.go() for x in b}
def given():
    x = A()
    x.go()
    x = B()
    x.go()
def same(flag):
    x = None
    if flag:
        x = A()
    else:
        x = A()
    x.go()
def walrus(a: list[A]):
    [y for x in a if (y := x)]
    y.go()
`
    const links = linksOf(await graphOf({ 'a.py': source }), 'CALLS')
    expect(links.filter(link => /go /.test(link)).map(link => link.replaceAll('a.py#', ''))).toEqual([
      ...['each CALLS A.go 0.5', 'each CALLS B.go 0.5', 'same CALLS A.go 0.5', 'walrus CALLS A.go 0.5'],
    ])
  })
})
