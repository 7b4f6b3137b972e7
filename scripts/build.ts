// Makes dist from src: JavaScript and declarations by tsc, the files that are not code by copying, and from these the
// command and the library in few files, with one build of ONNX Runtime beside them. The package also carries the pages, built beside them, and the embedding model, built here when it
// is missing. Messages go to standard error: `npm pack` owns the other stream.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildDocsPage } from './build-docs-page.ts'
import { buildExplorer } from './build-explorer.ts'
import { bundleCommand } from './bundle-command.ts'
import { bundleOnnx } from './bundle-onnx.ts'
import { TSC } from './steps.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const assets = ['.wasm', '.json', '.html', '.css', '.svg', '.md']

rmSync(join(root, 'dist'), { recursive: true, force: true })
run('tsc', [TSC, '-p', 'tsconfig.build.json'])
assertBuiltNames()
copyAssets()
if (!existsSync(join(root, 'model'))) run('the model', ['scripts/build-model.mjs'])
await bundleCommand()
await bundleOnnx()
await buildExplorer()
buildDocsPage()

function run(what: string, args: readonly string[]): void {
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: ['ignore', 2, 2] })
  if (status === 0) return
  console.error(`build: ${what} failed`)
  process.exit(1)
}

/** tsc turns `.ts` into `.js` in imports, but not in an `import()` within a function that has a `using`. */
function assertBuiltNames(): void {
  const files = readdirSync(join(root, 'dist'), { recursive: true, encoding: 'utf8' })
  for (const file of files.filter(name => extname(name) === '.js')) {
    const [found] = readFileSync(join(root, 'dist', file), 'utf8').match(/\bimport\(\s*["'`]\.[^"'`]*\.ts["'`]/) ?? []
    if (found === undefined) continue
    console.error(`build: dist/${file} has ${found}): move it into a function without \`using\``)
    process.exit(1)
  }
}

function copyAssets(): void {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  for (const file of files.filter(name => assets.includes(extname(name)))) {
    cpSync(join(root, 'src', file), join(root, 'dist', file))
  }
  // Those in UTF-8 and UTF-32, half of the bytes, are not among the maps that a PDF may name without holding them (ISO 32000-1, table 118).
  const filter = (path: string) => !/UTF(?:8|32)/.test(path)
  cpSync(join(root, 'node_modules/pdfjs-dist/cmaps'), join(root, 'dist/cmaps'), { recursive: true, filter })
}
