import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BUNDLED } from '../scripts/bundle-command.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const rulesFile = join(root, '.dependency-cruiser.cjs')
const temporary: string[] = []
afterAll(() => {
  for (const folder of temporary) rmSync(folder, { recursive: true })
})

describe('the layer table of ARCHITECTURE.md', () => {
  const rows = readLayerTable(readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8'))

  it('has a row for every folder and file directly under src', () => {
    const present = readdirSync(join(root, 'src'))
    expect(present.filter(name => !rows.some(row => row.folder === name))).toEqual([])
    expect(rows.length).toBe(17)
  })

  it('allows exactly what the rule file allows, for every pair of rows', () => {
    // One importing file a row, one imported file a row and a contract file; every pair is a type-only import.
    const targets = unique([
      ...rows.map(row => (isFile(row.folder) ? row.folder : `${row.folder}/target.ts`)),
      ...rows.flatMap(row => row.mayImport.filter(isFile)),
      ...rows.filter(row => row.isIslands).map(row => `${row.folder}/other/target.ts`),
    ])
    const pairs = rows.flatMap(row => targets.map(target => ({ row, from: importerOf(row), to: target })))
    const files = Object.fromEntries(targets.map(target => [target, 'export type T = 1\n']))
    for (const row of rows) {
      const importer = importerOf(row)
      const lines = targets
        .filter(target => target !== importer)
        .map(target => `import type {} from '${pathTo(importer, target)}'\n`)
      files[importer] = `${lines.join('')}export type T = 1\n`
    }
    const forbidden = cruise(files).filter(found => !found.rule.startsWith('no-cycle'))
    const said = unique(forbidden.map(found => `${found.from} -> ${found.to}`))
    const expected = pairs
      .filter(({ row, from, to }) => from !== to && !mayImport(row, to))
      .map(({ from, to }) => `${from} -> ${to}`)
    expect(said.sort()).toEqual(expected.sort())
  })
})

describe('the rule file catches planted violations', () => {
  const planted: { what: string; rule: string; file: string; text: string }[] = [
    {
      what: 'an import against the direction',
      rule: 'layer:model',
      file: 'model/up.ts',
      text: `import '../engine/b.ts'`,
    },
    {
      what: 'an import of types alone',
      rule: 'layer:math',
      file: 'math/up.ts',
      text: `import type { B } from '../model/b.ts'`,
    },
    {
      what: 'a dynamic import',
      rule: 'layer:base',
      file: 'base/up.ts',
      text: `export const a = import('../model/b.ts')`,
    },
    {
      what: 'an interface that uses another',
      rule: 'island:interfaces',
      file: 'interfaces/http/a.ts',
      text: `import '../mcp/b.ts'`,
    },
    { what: 'a lens that uses another', rule: 'island:lenses', file: 'lenses/one/a.ts', text: `import '../two/b.ts'` },
    {
      what: 'a lens with a concrete store',
      rule: 'layer:lenses',
      file: 'lenses/one/s.ts',
      text: `import '../../store/b.ts'`,
    },
    {
      what: 'a cycle of types alone',
      rule: 'no-cycle',
      file: 'model/c.ts',
      text: `import type { D } from './d.ts'\nexport type C = D`,
    },
    { what: 'source with a test', rule: 'src-stands-alone', file: 'engine/t.ts', text: `import '../../test/b.ts'` },
    { what: 'the disk in the model', rule: 'node:none', file: 'model/disk.ts', text: `import 'node:fs'` },
    { what: 'the network in base', rule: 'node:base', file: 'base/net.ts', text: `import 'node:http'` },
    { what: 'a package outside its place', rule: 'package:commander', file: 'engine/p.ts', text: `import 'commander'` },
    { what: 'a package without a place', rule: 'unlisted-package', file: 'engine/q.ts', text: `import 'fast-check'` },
    { what: 'a folder without a row', rule: 'unlisted-folder', file: 'helpers/a.ts', text: `import '../base/b.ts'` },
    { what: 'an import of nothing', rule: 'must-resolve', file: 'base/n.ts', text: `import './nowhere.ts'` },
  ]
  const innocent = {
    'base/b.ts': 'export type B = 1',
    'model/b.ts': 'export type B = 1',
    'model/d.ts': `import type { C } from './c.ts'\nexport type D = C`,
    'engine/b.ts': `import '../store/b.ts'\nimport 'node:path'`,
    'store/b.ts': `import 'node:sqlite'\nimport './store.ts'`,
    'store/store.ts': 'export type Store = 1',
    'lenses/lens.ts': `import 'zod'`,
    'lenses/two/b.ts': `import '../lens.ts'\nimport './c.ts'`,
    'lenses/two/c.ts': `import type { Store } from '../../store/store.ts'`,
    'interfaces/mcp/b.ts': '',
    'interfaces/cli/b.ts': `import 'commander'\nimport 'node:process'`,
    '../test/b.ts': '',
  }
  let found: Found[] = []
  beforeAll(() => {
    found = cruise({ ...innocent, ...Object.fromEntries(planted.map(({ file, text }) => [file, text])) })
  })

  it.each(planted)('$what', ({ rule, file }) => {
    expect(found.filter(one => one.from === file).map(one => one.rule)).toContain(rule)
  })

  it('and passes what is allowed', () => {
    const bad = [...planted.map(({ file }) => file), 'model/d.ts'] // d is part of the planted cycle
    expect(found.filter(one => !bad.includes(one.from))).toEqual([])
  })
})

describe('the source', () => {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter(name =>
    name.endsWith('.ts'),
  )

  it('has no file over 600 lines, tables in data folders apart', () => {
    const tooLong = files
      .filter(name => !name.includes('/data/'))
      .map(name => ({ name, lines: readFileSync(join(root, 'src', name), 'utf8').split('\n').length - 1 }))
      .filter(file => file.lines > 600)
    expect(tooLong).toEqual([])
  })

  it('has no index file but the public one', () => {
    expect(files.filter(name => /(^|\/)index\.ts$/.test(name) && name !== 'index.ts')).toEqual([])
  })

  it('has a place for every runtime package, and for no other', () => {
    const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const { dependencies, optionalDependencies, peerDependencies } = manifest
    const installed = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })
    const used = new Set([...installed, ...BUNDLED, 'onnxruntime-web'])
    const { forbidden } = createRequire(import.meta.url)(rulesFile) as { forbidden: { name: string }[] }
    const ruled = forbidden.flatMap(({ name }) => name.match(/^package:(.+)/)?.[1] ?? [])
    expect(ruled.sort()).toEqual([...used].sort())
  })
})

const publicIndex = join(root, 'src/index.ts')
describe.skipIf(!existsSync(publicIndex))('src/index.ts', () => {
  it('exports exactly what test/pins/exports.json lists, types included', () => {
    const pinned = JSON.parse(readFileSync(join(root, 'test/pins/exports.json'), 'utf8'))
    expect(exportsOf(readFileSync(publicIndex, 'utf8'))).toEqual(pinned)
  })
})

interface LayerRow {
  readonly folder: string
  readonly isIslands: boolean
  readonly mayImport: readonly string[]
}

function readLayerTable(markdown: string): LayerRow[] {
  const lines = markdown.split('\n')
  const start = lines.findIndex(line => line.startsWith('| Folder | May import |'))
  const end = lines.findIndex((line, at) => at > start && !line.startsWith('|'))
  return lines.slice(start + 2, end).map(line => {
    const [, first = '', second = ''] = line.split('|')
    const name = quoted(first)[0] ?? ''
    return { folder: name.replace('/<name>', ''), isIslands: name.endsWith('/<name>'), mayImport: quoted(second) }
  })
}

function quoted(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(match => match[1] ?? '')
}

/** What the words above the table mean: itself, the named folders and files; of an island row not the sisters. */
function mayImport(row: LayerRow, target: string): boolean {
  if (row.isIslands && target === `${row.folder}/other/target.ts`) return false
  return [row.folder, ...row.mayImport].some(name => target === name || target.startsWith(`${name}/`))
}

function importerOf(row: LayerRow): string {
  if (isFile(row.folder)) return row.folder
  return row.isIslands ? `${row.folder}/one/importer.ts` : `${row.folder}/importer.ts`
}

function isFile(name: string): boolean {
  return name.endsWith('.ts')
}

function pathTo(from: string, to: string): string {
  return `${'../'.repeat(from.split('/').length - 1) || './'}${to}`
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names)]
}

interface Found {
  readonly rule: string
  readonly from: string
  readonly to: string
}

/** Writes the files (paths under src) into a new folder and runs the project's rules over them. */
function cruise(files: Readonly<Record<string, string>>): Found[] {
  const folder = mkdtempSync(join(tmpdir(), 'querent-layers-'))
  temporary.push(folder)
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, 'src', name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const program = realpathSync(join(root, 'node_modules/.bin/depcruise'))
  const output = execFileSync(process.execPath, [program, '--config', rulesFile, '--output-type', 'json', 'src'], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 100_000_000,
  })
  const { summary } = JSON.parse(output) as {
    summary: { violations: { from: string; to: string; rule: { name: string } }[] }
  }
  const plain = (path: string): string => path.replace(/^src\//, '')
  return summary.violations.map(({ from, to, rule }) => ({ rule: rule.name, from: plain(from), to: plain(to) }))
}

/** Names in the order of the file; the index holds `export { … } from` and `export type { … } from` only. */
function exportsOf(source: string): string[] {
  const lists = [...source.matchAll(/^export (type )?\{([^}]*)\}/gm)]
  const loose = source.match(/^export (?!(type )?\{).*/gm) ?? []
  if (loose.length > 0) throw new Error(`src/index.ts holds something other than lists of names: ${loose[0]}`)
  return lists
    .flatMap(([, type, names = '']) => names.split(',').map(name => ({ type, name: name.trim() })))
    .filter(({ name }) => name !== '')
    .map(
      ({ type, name }) =>
        `${type || name.startsWith('type ') ? 'type ' : ''}${name.replace(/^type /, '').replace(/^.* as /, '')}`,
    )
    .sort()
}
