/** What the interfaces offer, as they offer it: the catalog, the commands, the routes, the tools. */
import type { Command } from 'commander'
import { openEngine } from '../../src/engine/open.ts'
import { makeProgram } from '../../src/interfaces/cli/cli.ts'
import type { Cli } from '../../src/interfaces/cli/io.ts'
import { fillCommands } from '../../src/interfaces/cli/operation-command.ts'
import { ROUTES } from '../../src/interfaces/http/mount.ts'
import { SERVERS } from '../../src/interfaces/main.ts'
import { makeTools } from '../../src/interfaces/mcp/tools.ts'
import { type Catalog, makeCatalog } from '../../src/ops/catalog.ts'

export interface KnownCommand {
  /** `chroma query`. */
  readonly path: string
  readonly command: Command
}

export interface KnownTool {
  readonly name: string
  /** Null: offered without a lens. */
  readonly lens: string | null
}

export interface Known {
  readonly catalog: Catalog
  readonly lenses: readonly { readonly name: string; readonly summary: string }[]
  readonly commands: readonly KnownCommand[]
  /** `POST /v1/query`, by operation. */
  readonly routes: ReadonlyMap<string, readonly string[]>
  /** By operation. */
  readonly tools: ReadonlyMap<string, readonly KnownTool[]>
}

export async function withKnown<T>(make: (known: Known) => T): Promise<T> {
  await using engine = await openEngine({ store: 'memory', embedder: 'none', background: false })
  const catalog = makeCatalog(engine)
  const program = makeProgram(NOBODY)
  await fillCommands(program)
  const names = engine.lenses.map(({ name }) => name)
  return make({
    catalog,
    lenses: engine.lenses.map(({ name, summary }) => ({ name, summary })),
    commands: commandsBelow(program, ''),
    routes: grouped(ROUTES.map(({ operation, method, path }) => [operation, `${method} ${path}`])),
    tools: toolsOf(catalog, names),
  })
}

/** Commands are only described here: none of them runs. */
const NOBODY = { io: { stdout: process.stdout, stderr: process.stderr }, servers: SERVERS } as unknown as Cli

function commandsBelow(parent: Command, place: string): readonly KnownCommand[] {
  return parent.commands.flatMap(command => {
    const path = `${place} ${command.name()}`.trim()
    return [{ path, command }, ...commandsBelow(command, path)]
  })
}

type Pair = readonly [string, KnownTool]

function toolsOf(catalog: Catalog, lenses: readonly string[]): ReadonlyMap<string, readonly KnownTool[]> {
  const common = makeTools(catalog, {}, lenses)
  const commonNames = new Set(common.map(({ name }) => name))
  const ofLenses = lenses.flatMap(lens =>
    makeTools(catalog, { lenses: [lens] }, lenses)
      .filter(({ name }) => !commonNames.has(name))
      .map(({ name, operation }): Pair => [operation.name, { name, lens }]),
  )
  return grouped([...common.map(({ name, operation }): Pair => [operation.name, { name, lens: null }]), ...ofLenses])
}

function grouped<T>(pairs: readonly (readonly [string, T])[]): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>()
  for (const [key, value] of pairs) groups.set(key, [...(groups.get(key) ?? []), value])
  return groups
}
