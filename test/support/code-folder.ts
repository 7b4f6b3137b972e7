/** A folder of code with a store in it, and what the lens `context` knows of it. */
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { JsonObject } from '../../src/base/canonical.ts'
import type { Engine } from '../../src/engine/engine.ts'
import type { EngineOptions } from '../../src/engine/options.ts'
import { Context } from '../../src/lenses/context/operations.ts'
import { CONCEPTS, EDGES, PROVENANCE } from '../../src/lenses/context/tables.ts'
import { openTestEngine } from './engines.ts'
import { tempFolder } from './temp-folder.ts'

export interface CodeFolder extends AsyncDisposable {
  readonly path: string
  readonly engine: Engine
  readonly context: Context
  write(files: Readonly<Record<string, string | Uint8Array>>): void
  remove(...names: readonly string[]): void
  rename(from: string, to: string): void
  /** The result of a call that must succeed. */
  do(path: string, params?: unknown): Promise<JsonObject>
  /** `<type> <name> <file>`, in order, once for each. */
  concepts(): readonly string[]
  /** `<name> <relation> <name> <weight>`, in order; names with their files. */
  relations(): readonly string[]
  /** What `concepts` tells -> id. */
  ids(): ReadonlyMap<string, number>
}

export async function openCodeFolder(
  files: Readonly<Record<string, string | Uint8Array>>,
  options: EngineOptions = {},
): Promise<CodeFolder> {
  const folder = tempFolder()
  const at = (name: string) => join(folder.path, name)
  const write: CodeFolder['write'] = given => {
    for (const [name, content] of Object.entries(given)) {
      mkdirSync(dirname(at(name)), { recursive: true })
      writeFileSync(at(name), content)
    }
  }
  write(files)
  const engine = await openTestEngine({ home: at('.querent'), ...options })
  const host = engine.host('context')
  const context = new Context(host)
  const labels = (): ReadonlyMap<number, string> => {
    const root = `${host.workspace?.url}/`
    const rows = host.store.table(CONCEPTS).scan()
    return new Map(
      rows.map(row => {
        const url = row['url'] as string | null
        return [row['id'] as number, `${row['type']} ${row['name']} ${url === null ? '-' : url.replace(root, '')}`]
      }),
    )
  }
  return {
    path: folder.path,
    engine,
    context,
    write,
    remove: (...names) => {
      for (const name of names) rmSync(at(name), { recursive: true })
    },
    rename: (from, to) => {
      mkdirSync(dirname(at(to)), { recursive: true })
      renameSync(at(from), at(to))
    },
    do: async (path, params) => {
      const { result, errors } = await context.call(path, params)
      if (result === null) throw new Error(`${path}: ${JSON.stringify(errors)}`)
      return result
    },
    concepts: () => [...labels().values()].sort(),
    relations: () => {
      const names = labels()
      const rows = host.store.table(EDGES).scan()
      return rows
        .map(row => {
          const [source, target] = [names.get(row['source'] as number), names.get(row['target'] as number)]
          return `${source ?? '(gone)'} ${row['relation']} ${target ?? '(gone)'} ${row['weight']}`
        })
        .concat(
          host.store
            .table(PROVENANCE)
            .scan()
            .map(row => `${names.get(row['concept'] as number)} IN ${row['url']}`),
        )
        .map(text => text.replaceAll(`${host.workspace?.url}/`, ''))
        .sort()
    },
    ids: () => new Map([...labels()].map(([id, label]) => [label, id])),
    [Symbol.asyncDispose]: async () => {
      await engine.close()
      folder[Symbol.dispose]()
    },
  }
}
