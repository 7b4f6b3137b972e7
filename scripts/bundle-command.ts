// Makes dist/command: the `querent` command, its workers and the library in a few files, together with the packages that
// every start needs. Reading some 300 small modules took half of a short command's time. The folder lies as deep as the
// folders of dist it is made from, so that addresses relative to a module keep their meaning; what they name is copied.
// Tests make the same of the sources, which lie as deep.
import { cpSync, existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { licenceOf } from './licence-of.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * Needed by every question. All other packages are loaded from node_modules when they are used. Development dependencies,
 * so that nobody installs them a second time; zod is a dependency because the declarations name its types.
 */
export const BUNDLED: readonly string[] = [
  'zod',
  'commander',
  'picocolors',
  'lru-cache',
  'stemmer',
  '@orama/stemmers',
  '@orama/stopwords',
]

const ENTRIES = {
  main: 'interfaces/main',
  'document-worker': 'ingest/documents/document-worker',
  index: 'index',
  'onnx-worker': 'embed/onnx-worker',
  'erase-worker': 'store/erase-worker',
  'store-worker': 'store/store-worker',
}

/** `folder`: absolute, and in a folder `dist` in which the other assets lie as they do in the package's. */
export async function bundleCommand(
  from: 'dist' | 'src' = 'dist',
  folder: string = join(root, 'dist/command'),
): Promise<void> {
  const ending = from === 'src' ? 'ts' : 'js'
  const pathOf = (module: string) => join(root, from, `${module}.${ending}`)
  const bundle = await rolldown({
    input: Object.fromEntries(Object.entries(ENTRIES).map(([name, module]) => [name, pathOf(module)])),
    platform: 'node',
    transform: { target: 'es2024' }, // Node 22 knows no `using`: of the sources it becomes calls of @oxc-project/runtime
    treeshake: false, // with it, and with any minifying, calls go that are made for what they throw (`decodeURIComponent` in a `try`)
    preserveEntrySignatures: 'allow-extension', // a condition of `includeDependenciesRecursively`
    external: id => !/^[./]|^[a-z]:\\/i.test(id) && ![...BUNDLED, '@oxc-project/runtime'].includes(packageOf(id)),
  })
  const { output } = await bundle.write({
    ...{ dir: folder, format: 'esm', chunkFileNames: 'chunks-[hash].js', minify: false, comments: false },
    // Groups contain what their modules import, so the bundler need not add it, which would move modules of workers into them.
    codeSplitting: { groups: [{ name: fileOf(pathOf), debugName: 'query' }], includeDependenciesRecursively: false },
  })
  await bundle.close()
  const library = output.find(file => file.type === 'chunk' && file.isEntry && file.name === 'index')
  writeFileSync(join(folder, 'library.js'), libraryEntry(library?.type === 'chunk' ? library.exports : []))
  cpSync(join(root, from, 'index/kernel'), join(folder, 'kernel'), { recursive: true })
  writeFileSync(join(folder, 'LICENCES'), BUNDLED.map(licenceOf).join('\n\n'))
  assertAssets(folder)
}

interface ModuleGraph {
  getModuleInfo(id: string): { readonly importedIds: readonly string[] } | null
}

/** Modules whose code, with all that they import, each query loads. */
const QUERY = ['interfaces/cli/session', 'ops/catalog', 'engine/open']

/**
 * Puts the modules that every query loads into one file, and those that `--help` loads into another. By default rolldown makes a file for
 * each set of entries that share modules; a query then loads 45 files. Both sets contain everything that their modules import, except what
 * workers load too, so no two files import each other, and modules run in order.
 */
function fileOf(pathOf: (module: string) => string): (id: string, graph: ModuleGraph) => string | null {
  const entries = Object.values(ENTRIES).map(pathOf)
  const workers = entries.filter(path => /-worker[.]/.test(path))
  let sets: Readonly<Record<'workers' | 'start' | 'query', ReadonlySet<string>>> | null = null
  return (id, graph) => {
    sets ??= {
      workers: importedBy(workers, graph),
      start: importedBy([pathOf(ENTRIES.main)], graph),
      query: importedBy(QUERY.map(pathOf), graph),
    }
    if (sets.workers.has(id) || entries.includes(id)) return null
    return sets.start.has(id) ? 'start' : sets.query.has(id) ? 'query' : null
  }
}

/** These modules and all that they import, at any depth, without dynamic imports. */
function importedBy(modules: readonly string[], graph: ModuleGraph): ReadonlySet<string> {
  const found = new Set<string>(modules)
  for (const module of found) for (const next of graph.getModuleInfo(module)?.importedIds ?? []) found.add(next)
  return found
}

/**
 * What `import 'querent'` loads. A Node that is too old cannot link the library itself, so this module checks the version first. It
 * loads the library with `require`, not with `await`, so that programs can `require` it too.
 */
export function libraryEntry(names: readonly string[]): string {
  return `import { createRequire } from 'node:module'
import { tooOldMessage } from '../../bin/node-version.js'

const tooOld = tooOldMessage()
if (tooOld !== null) throw new Error(tooOld)
export const { ${names.join(', ')} } = createRequire(import.meta.url)('./index.js')
`
}

function packageOf(id: string): string {
  return id
    .split('/')
    .slice(0, id.startsWith('@') ? 2 : 1)
    .join('/')
}

/** A module may name a file beside it that nobody copied. */
function assertAssets(folder: string): void {
  for (const file of globSync('*.js', { cwd: folder })) {
    for (const [, asset] of readFileSync(join(folder, file), 'utf8').matchAll(NAMED_ASSET)) {
      const path = join(dirname(join(folder, file)), asset as string)
      if (!existsSync(path)) throw new Error(`dist/command/${file} names ${asset}, which is not there`)
    }
  }
}

const NAMED_ASSET = /new URL\(\s*["'`](\.[^"'`]+)["'`],\s*import\.meta\.url/g
