// What Go's own type checker says of calls: the oracle of test/quality/linked-languages.test.ts.
//
//	go run go-oracle.go <root> <package>...
//
// One line a file that it read, `FILE <path>`, and one a call, `<path>#<caller> CALLS <path>#<callee>`. Calls of methods of
// interfaces and of what lies outside the root are left out.
package main

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	root := os.Args[1]
	fset := token.NewFileSet()
	imp := importer.ForCompiler(fset, "source", nil)
	for _, pkg := range os.Args[2:] {
		dir := filepath.Join(root, pkg)
		ents, _ := os.ReadDir(dir)
		var files []*ast.File
		for _, e := range ents {
			n := e.Name()
			if !strings.HasSuffix(n, ".go") || strings.HasSuffix(n, "_test.go") {
				continue
			}
			if ok, _ := build.Default.MatchFile(dir, n); !ok {
				continue
			}
			fmt.Println("FILE " + filepath.Join(pkg, n))
			f, err := parser.ParseFile(fset, filepath.Join(dir, n), nil, 0)
			if err != nil {
				continue
			}
			files = append(files, f)
		}
		info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
		conf := types.Config{Importer: imp, Error: func(error) {}, FakeImportC: true}
		conf.Check(pkg, fset, files, info)
		place := func(o types.Object) string {
			if o == nil {
				return ""
			}
			p := fset.Position(o.Pos())
			rel, _ := filepath.Rel(root, p.Filename)
			name := o.Name()
			fn, ok := o.(*types.Func)
			if !ok {
				return ""
			}
			if r := fn.Type().(*types.Signature).Recv(); r != nil {
				t := r.Type()
				if q, ok := t.(*types.Pointer); ok {
					t = q.Elem()
				}
				n, ok := t.(*types.Named)
				if !ok {
					return ""
				}
				if _, isI := n.Underlying().(*types.Interface); isI {
					return ""
				}
				name = n.Obj().Name() + "." + name
			}
			return rel + "#" + name
		}
		for _, f := range files {
			for _, d := range f.Decls {
				fd, ok := d.(*ast.FuncDecl)
				if !ok || fd.Body == nil {
					continue
				}
				src := place(info.Defs[fd.Name])
				ast.Inspect(fd.Body, func(n ast.Node) bool {
					c, ok := n.(*ast.CallExpr)
					if !ok {
						return true
					}
					fun := ast.Unparen(c.Fun)
					if ix, ok := fun.(*ast.IndexExpr); ok {
						fun = ix.X
					}
					var id *ast.Ident
					switch x := fun.(type) {
					case *ast.Ident:
						id = x
					case *ast.SelectorExpr:
						id = x.Sel
					}
					if id == nil || info.Uses[id] == nil {
						return true
					}
					if t := place(info.Uses[id]); t != "" && !strings.HasPrefix(t, "..") && t != src {
						fmt.Println(src + " CALLS " + t)
					}
					return true
				})
			}
		}
	}
}
