// Who may import whom, types included. ARCHITECTURE.md shows the same table for reading; test/architecture.test.ts holds
// the two together by trying every pair of folders.

const storeIndexEmbed = ['store/store.ts', 'store/core-tables.ts', 'index/contract.ts', 'embed/embedder.ts']

/** What others know of lenses. */
const lensContract = ['lenses/lens.ts', 'lenses/registry.ts', 'lenses/calls.ts']

/** Folder under src (or one file) -> the folders and files it may import besides itself. */
const layers = {
  base: [],
  model: ['base'],
  math: ['base'],
  text: ['base', 'model'],
  store: ['base', 'model'],
  index: ['base', 'model', 'math', 'text', 'store/store.ts', 'store/feed.ts'],
  embed: ['base', 'model'],
  identity: ['base', 'model'],
  pipeline: ['base', 'model', 'math', 'text', 'store/feed.ts', ...storeIndexEmbed],
  lenses: ['base', 'model', 'math', 'text', 'identity', 'pipeline', ...storeIndexEmbed],
  sources: ['base', 'model', 'identity', 'pipeline', 'store/store.ts', 'index/contract.ts'],
  ingest: ['base', 'model', 'text', ...storeIndexEmbed, 'lenses/lens.ts'],
  engine: [
    ...['base', 'model', 'math', 'text', 'store', 'index', 'embed', 'identity'],
    ...['pipeline', 'sources', 'ingest', ...lensContract],
  ],
  openings: ['base', 'model', 'embed', 'store', 'lenses', 'sources', 'engine'],
  ops: ['base', 'model', 'engine', 'lenses/registry.ts'],
  interfaces: ['base', 'model', 'engine', 'openings', 'ops'],
  'index.ts': [
    'model',
    'engine',
    'openings',
    ...storeIndexEmbed,
    'embed/open-embedder.ts',
    'base/clock.ts',
    'pipeline/stage.ts',
    'pipeline/context.ts',
    'pipeline/default-stages.ts',
    'pipeline/formula.ts',
    'lenses',
  ],
}

/** Folders whose subfolders may not see each other. */
const islands = ['lenses', 'interfaces']

/** Folder -> the modules of Node it may use. What is not named runs without disk, network, threads or processes. */
const disk = ['fs', 'fs/promises', 'path', 'url']
const nodeModules = {
  base: ['crypto', 'worker_threads'],
  store: [...disk, 'child_process', 'sqlite', 'util', 'worker_threads', 'zlib'],
  index: [...disk, 'worker_threads', 'zlib'],
  embed: [...disk, 'module', 'os', 'timers/promises', 'worker_threads'],
  identity: ['crypto'],
  ingest: [...disk, 'readline', 'stream'],
  engine: [...disk, 'crypto', 'events', 'os', 'timers/promises'],
  openings: disk,
  ops: ['util'],
  'interfaces/cli': [
    ...disk,
    'cluster',
    'events',
    'os',
    'process',
    'readline',
    'stream',
    'stream/consumers',
    'timers/promises',
    'tty',
    'util',
  ],
  'interfaces/http': [...disk, 'cluster', 'crypto', 'http', 'net', 'stream'],
  'interfaces/mcp': [...disk, 'crypto', 'http', 'process', 'stream'],
  sources: ['http', 'https'],
  text: ['module'],
}

/** Runtime package -> the only folders that may import it. */
const packages = {
  '@hono/node-server': ['interfaces/http'],
  '@huggingface/tokenizers': ['embed'],
  '@modelcontextprotocol/server': ['interfaces/mcp'],
  '@orama/stemmers': ['text'],
  '@orama/stopwords': ['text'],
  '@qdrant/js-client-rest': ['sources'],
  chokidar: ['interfaces/cli'],
  chromadb: ['sources'],
  '@vscode/tree-sitter-wasm': ['lenses/context'],
  'cli-progress': ['interfaces/cli'],
  commander: ['interfaces/cli'],
  culori: ['lenses/chroma'],
  hono: ['interfaces/http'],
  ignore: ['ingest'],
  'jsonc-parser': ['interfaces/cli', 'interfaces/http'],
  'lru-cache': ['embed', 'identity'],
  'markdown-it': ['text'],
  'onnxruntime-node': ['embed'],
  'onnxruntime-web': ['embed'],
  parse5: ['text'],
  'postal-mime': ['ingest', 'lenses/conversations'],
  'prom-client': ['interfaces/http'],
  open: ['interfaces/cli'],
  picocolors: ['interfaces/cli'],
  sax: ['ingest'],
  stemmer: ['text'],
  unpdf: ['ingest'],
  'web-tree-sitter': ['lenses/context'],
  yaml: ['ingest'],
  yauzl: ['ingest'],
  zod: ['model', 'embed', 'engine', 'lenses', 'ops', 'interfaces'],
}

const isFile = name => name.endsWith('.ts')
const under = name => (isFile(name) ? `^src/${name.replace('.', '[.]')}$` : `^src/${name}/`)
const names = list => `^(node:)?(${list.join('|')})$`

const layerRules = Object.entries(layers).map(([folder, allowed]) => ({
  name: `layer:${folder}`,
  severity: 'error',
  from: { path: under(folder) },
  to: { path: '^src/', pathNot: [folder, ...allowed].map(under) },
}))

const unlistedFolder = {
  name: 'unlisted-folder',
  comment: 'A new folder needs a row in the table before anything may stand in it.',
  severity: 'error',
  from: { path: '^src/', pathNot: Object.keys(layers).map(under) },
  to: {},
}

const islandRules = islands.map(folder => ({
  name: `island:${folder}`,
  severity: 'error',
  from: { path: `^src/${folder}/([^/]+)/` },
  to: { path: `^src/${folder}/[^/]+/`, pathNot: `^src/${folder}/$1/` },
}))

const nodeRules = [
  ...Object.entries(nodeModules).map(([folder, allowed]) => ({
    name: `node:${folder}`,
    severity: 'error',
    from: { path: under(folder) },
    to: { dependencyTypes: ['core'], pathNot: names(allowed) },
  })),
  {
    name: 'node:none',
    severity: 'error',
    from: { path: '^src/', pathNot: Object.keys(nodeModules).map(under) },
    to: { dependencyTypes: ['core'] },
  },
]

const packageRules = [
  ...Object.entries(packages).map(([name, folders]) => ({
    name: `package:${name}`,
    severity: 'error',
    from: { path: '^src/', pathNot: folders.map(under) },
    to: { path: `node_modules/${name}/` },
  })),
  {
    name: 'unlisted-package',
    severity: 'error',
    from: { path: '^src/' },
    to: { path: 'node_modules/', pathNot: Object.keys(packages).map(name => `node_modules/${name}/`) },
  },
]

/**
 * Lenses on the one path (decision 028): they reach indexes, pages and live queries through the pipeline alone. What writes their
 * own entries may know the store; those of chroma know its types alone. Conversations keep the words of their messages in columns of their own, which read it too.
 * Of beliefs it holds for all that asks and answers, but for their own pages (`paging`).
 */
const onePath = {
  name: 'one-path',
  severity: 'error',
  from: {
    path: '^src/lenses/(c64|chroma|collections|context|conversations|default|beliefs/(answer|explain|live|matching|query|questions|ranking))/',
    pathNot: '^src/lenses/(c64/corpus/store|conversations/asking/transcripts|beliefs/live/subscriptions)[.]ts$',
  },
  to: {
    path: '^src/(index/|store/|engine/|pipeline/(held|cached-order|held-orders|go-on|cursor|run|paced)[.]ts$)',
    dependencyTypesNot: ['type-only'],
  },
}

/**
 * What is known of a lens outside its folder is what it declares, and the registry has it (decision 029). Above the engine, `openings`
 * and the library open one lens alone and so name it.
 */
const lensByRegistry = {
  name: 'lens-by-registry',
  severity: 'error',
  from: {
    path: '^src/',
    pathNot: ['^src/lenses/[^/]+/', '^src/lenses/registry[.]ts$', ...['openings', 'index.ts'].map(under)],
  },
  to: { path: '^src/lenses/[^/]+/' },
}

/** Data and types apart, the registry imports a lens when it is needed. */
const lensWhenNeeded = {
  name: 'lens-when-needed',
  severity: 'error',
  from: { path: '^src/lenses/registry[.]ts$' },
  to: {
    path: '^src/lenses/[^/]+/',
    pathNot: '^src/lenses/([^/]+/tables|default/default-lens)[.]ts$',
    dynamic: false,
    dependencyTypesNot: ['type-only'],
  },
}

const generalRules = [
  onePath,
  lensByRegistry,
  lensWhenNeeded,
  { name: 'no-cycle', severity: 'error', from: {}, to: { circular: true } },
  {
    name: 'src-stands-alone',
    severity: 'error',
    from: { path: '^src/' },
    to: { dependencyTypes: ['local'], pathNot: '^src/' },
  },
  { name: 'must-resolve', severity: 'error', from: { path: '^src/' }, to: { couldNotResolve: true } },
]

module.exports = {
  forbidden: [...layerRules, unlistedFolder, ...islandRules, ...nodeRules, ...packageRules, ...generalRules],
  options: {
    tsPreCompilationDeps: true, // type-only imports count
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'types', 'default'] },
  },
}
