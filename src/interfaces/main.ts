/**
 * The `querent` program: connects the command line with the other interfaces that it can start, because interfaces do not import each
 * other. Started by `bin/querent.js` (in the package) and `scripts/querent.ts` (in a checkout).
 */
import { runCli } from './cli/cli.ts'
import { type Io, processIo, type Servers } from './cli/io.ts'
import type { HttpSettings } from './http/settings.ts'

/** Runs the program and resolves to its exit code; never rejects. `argv`: the command-line arguments without the program's name. */
export function main(argv: readonly string[], io: Io = processIo()): Promise<number> {
  return runCli(argv, SERVERS, io)
}

export const SERVERS: Servers = {
  httpSettings: async () => (await import('./http/settings.ts')).httpSettings,
  serveHttp: async (engine, catalog, { settings, ...others }, signal, ready) => {
    const { serveHttp } = await import('./http/server.ts')
    const { mcpOverHttp } = await import('./mcp/http.ts')
    const options = { ...(settings as HttpSettings), ...others, mcp: mcpOverHttp(engine, catalog) }
    return serveHttp(engine, catalog, options, signal, ready)
  },
  readTokens: async (folder, path) => (await import('./http/auth.ts')).readTokens(folder, path),
  relayFigures: async signal => (await import('./http/metrics.ts')).relayFigures(signal),
  serveMcp: async (engine, catalog, options, signal) => {
    const { serveMcp } = await import('./mcp/stdio.ts')
    return serveMcp(engine, catalog, options, signal)
  },
  listMcpTools: async (engine, catalog, choice) => {
    const { costOfTool, makeTools } = await import('./mcp/tools.ts')
    const lenses = engine.lenses.map(lens => lens.name)
    return makeTools(catalog, choice, lenses).map(costOfTool)
  },
}
