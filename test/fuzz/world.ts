/** A small store with something of every lens in it, and something hidden, for targets that ask a whole engine. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Engine } from '../../src/engine/engine.ts'
import type { EngineOptions } from '../../src/engine/options.ts'
import { type Catalog, callOperation, makeCatalog } from '../../src/ops/catalog.ts'
import { openTestEngine } from '../support/engines.ts'
import { type TempFolder, tempFolder } from '../support/temp-folder.ts'
import { openToyEmbedder } from '../support/toy-embedder.ts'
import type { Call } from './calls/call.ts'
import { SETUP } from './calls/setup.ts'

export interface World extends AsyncDisposable {
  readonly engine: Engine
  readonly catalog: Catalog
  /** Of its workspace. */
  readonly folder: string
  call(call: Pick<Call, 'operation' | 'viewer'>, input: unknown): Promise<unknown>
}

const FILES: Readonly<Record<string, string>> = {
  'src/login.ts':
    'import { Token } from "./token.ts"\n/** Logs in. */\nexport class Login {\n  run(): Token {\n    return new Token()\n  }\n}\n',
  'src/token.ts': 'export class Token {}\n',
  'notes.md': '# Notes\n\nThe [login](src/login.ts) of `Login.run`.\n',
  'data.jsonl': '{"id":"d1","body":"one"}\n',
}

/** On a disk, with a workspace: paths in inputs are those of its folder, and nothing outside of it is read. */
export async function openWorld(options: EngineOptions = {}): Promise<World> {
  const place = tempFolder()
  writeFiles(place)
  const engine = await openTestEngine({ home: place.file('.querent'), embedder: openToyEmbedder(), ...options })
  const catalog = makeCatalog(engine)
  const { signal } = new AbortController()
  const world: World = {
    engine,
    catalog,
    folder: place.path,
    call: ({ operation, viewer }, input) =>
      callOperation(catalog, engine, operation, inside(operation, input, place.path), {
        viewer: { id: viewer },
        signal,
      }),
    async [Symbol.asyncDispose]() {
      await engine.close()
      rmSync(place.path, { recursive: true, force: true })
    },
  }
  for (const call of SETUP) await world.call(call, call.input)
  return world
}

/** What there is to be read beside the store. */
export function writeFiles(place: TempFolder): void {
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(dirname(place.file(name)), { recursive: true })
    writeFileSync(place.file(name), text)
  }
}

/** `add` and `backup` read and write at any given path. */
export function inside(operation: string, input: unknown, folder: string): unknown {
  if (typeof input !== 'object' || input === null) return input
  const placed = (path: unknown) =>
    typeof path === 'string' && path !== '' ? `${folder}/${path.replace(/\.\.|^[/\\]+|~/g, '_')}` : path
  if (operation === 'add' && 'paths' in input && Array.isArray(input.paths))
    return { ...input, paths: input.paths.map(placed) }
  if (operation === 'backup' && 'to' in input) return { ...input, to: placed(input.to) }
  return input
}

/** All that is stored, as one text. */
export async function dumpOf(engine: Engine): Promise<string> {
  const lines: string[] = []
  for await (const line of engine.export()) lines.push(JSON.stringify(line))
  return lines.join('\n')
}
