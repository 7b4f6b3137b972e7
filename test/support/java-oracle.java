// What javac says of calls: the oracle of test/quality/linked-languages.test.ts.
//
//	java java-oracle.java <src.zip of the JDK> <folder> <module>...
//
// Writes the sources of the modules into the folder and prints one line a file, `FILE <path>`, and one a call,
// `<path>#<caller> CALLS <path>#<callee>`. Calls of what lies in other modules, and those in classes within methods, are left out.
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.NewClassTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreePath;
import com.sun.source.util.TreePathScanner;
import com.sun.source.util.Trees;
import java.io.File;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import javax.lang.model.element.Element;
import javax.lang.model.element.ElementKind;
import javax.lang.model.element.NestingKind;
import javax.lang.model.element.TypeElement;
import javax.tools.ToolProvider;

class JavaOracle {
    public static void main(String[] args) throws Exception {
        var root = Path.of(args[1]);
        var lines = new TreeSet<String>();
        for (int at = 2; at < args.length; at++) read(root, args[at], extract(Path.of(args[0]), root, args[at]), lines);
        var out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (var line : lines) out.println(line);
        out.flush();
    }

    static List<File> extract(Path zip, Path root, String module) throws Exception {
        var files = new ArrayList<File>();
        try (var system = FileSystems.newFileSystem(zip); var all = Files.walk(system.getPath("/" + module))) {
            for (var from : (Iterable<Path>) all.filter(path -> path.toString().endsWith(".java"))::iterator) {
                var to = root.resolve(from.toString().substring(1));
                Files.createDirectories(to.getParent());
                Files.write(to, Files.readAllBytes(from));
                files.add(to.toFile());
            }
        }
        return files;
    }

    static void read(Path root, String module, List<File> files, TreeSet<String> lines) throws Exception {
        var compiler = ToolProvider.getSystemJavaCompiler();
        var manager = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8);
        var options = List.of("-proc:none", "-nowarn", "--patch-module", module + "=" + root.resolve(module));
        var sources = files.stream().filter(file -> !file.getName().equals("module-info.java")).toList();
        var task = (JavacTask) compiler.getTask(null, manager, report -> {}, options, null, manager.getJavaFileObjectsFromFiles(sources));
        var units = task.parse();
        task.analyze();
        var trees = Trees.instance(task);
        for (var unit : units) {
            lines.add("FILE " + pathOf(root, unit));
            new Calls(root, trees, lines).scan(unit, null);
        }
    }

    static String pathOf(Path root, CompilationUnitTree unit) {
        return root.relativize(Path.of(unit.getSourceFile().toUri())).toString();
    }

    static class Calls extends TreePathScanner<Void, Void> {
        final Path root;
        final Trees trees;
        final TreeSet<String> lines;

        Calls(Path root, Trees trees, TreeSet<String> lines) {
            this.root = root;
            this.trees = trees;
            this.lines = lines;
        }

        @Override
        public Void visitMethodInvocation(MethodInvocationTree call, Void nothing) {
            var callee = trees.getElement(new TreePath(getCurrentPath(), call.getMethodSelect()));
            if (callee != null && callee.getKind() == ElementKind.METHOD) {
                say(callee.getEnclosingElement(), "." + callee.getSimpleName());
            }
            return super.visitMethodInvocation(call, nothing);
        }

        @Override
        public Void visitNewClass(NewClassTree made, Void nothing) {
            var isConstant = getCurrentPath().getParentPath().getLeaf() instanceof VariableTree variable
                && trees.getElement(getCurrentPath().getParentPath()).getKind() == ElementKind.ENUM_CONSTANT;
            var of = trees.getElement(new TreePath(getCurrentPath(), made.getIdentifier()));
            if (of != null && !isConstant) say(of, "");
            return super.visitNewClass(made, nothing);
        }

        void say(Element type, String member) {
            var to = type instanceof TypeElement ? trees.getPath(type) : null;
            var caller = caller();
            if (to == null || caller == null || !isNamed((TypeElement) type)) return;
            var from = pathOf(root, getCurrentPath().getCompilationUnit());
            lines.add(from + "#" + caller + " CALLS " + pathOf(root, to.getCompilationUnit()) + "#" + type.getSimpleName() + member);
        }

        /** `Class.method`, or the class for what stands outside of methods; null within a class that a method declares. */
        String caller() {
            String method = "";
            for (var at = getCurrentPath(); at != null; at = at.getParentPath()) {
                Tree leaf = at.getLeaf();
                if (leaf instanceof MethodTree) {
                    var element = trees.getElement(at);
                    var name = element.getSimpleName().toString();
                    method = "." + (name.equals("<init>") ? element.getEnclosingElement().getSimpleName() : name);
                } else if (leaf instanceof ClassTree) {
                    var type = (TypeElement) trees.getElement(at);
                    return isNamed(type) ? type.getSimpleName() + method : null;
                }
            }
            return null;
        }

        /** Not within a method. */
        static boolean isNamed(TypeElement type) {
            for (Element at = type; at instanceof TypeElement each; at = each.getEnclosingElement()) {
                if (each.getNestingKind() == NestingKind.LOCAL || each.getNestingKind() == NestingKind.ANONYMOUS) return false;
            }
            return true;
        }
    }
}
