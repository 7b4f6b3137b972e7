/** `serve` and `mcp`: the doors that stay open. They alone do background work. */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { QuerentError } from '../../../model/errors.ts'
import type { RequestLog } from '../../../model/request-log.ts'
import type { CommonFlags } from '../flags.ts'
import { write } from '../io.ts'
import type { Cli } from '../run.ts'
import { withSession } from '../session.ts'

interface ServeFlags extends CommonFlags {
  readonly host: string
  readonly port: number
  readonly tokens?: string
  /** Note requests on standard error, one JSON line each. */
  readonly log?: boolean
  /** Note the texts of queries too, to be kept so many days. */
  readonly logQueries?: number
}

export async function runServe(cli: Cli, flags: ServeFlags): Promise<void> {
  const tokens = flags.tokens === undefined ? undefined : await tokenFile(cli, flags.tokens)
  const { host, port } = flags
  cli.endsBySignal = true
  const session = { background: true, create: isNamed(cli, flags), log: requestLog(cli, flags) }
  await withSession(cli, flags, session, ({ engine, catalog }) =>
    cli.doors.serveHttp(engine, catalog, { host, port, tokens }, cli.signal, url => {
      void write(cli.io.stderr, `querent listens on ${url}\n`)
    }),
  )
}

export async function runMcp(cli: Cli, flags: CommonFlags & { lens?: string }): Promise<void> {
  cli.endsBySignal = true
  await withSession(cli, flags, { background: true, create: isNamed(cli, flags) }, ({ engine, catalog, context }) =>
    cli.doors.serveMcp(engine, catalog, { viewer: context.viewer, lens: flags.lens }, cli.signal),
  )
}

function requestLog(cli: Cli, { log, logQueries }: ServeFlags): RequestLog | undefined {
  if (log !== true && logQueries === undefined) return undefined
  return {
    write: line => void write(cli.io.stderr, `${JSON.stringify(line)}\n`),
    queryDays: logQueries,
  }
}

/** A client starts servers in folders of its own choice: a store is made only where somebody named one. */
function isNamed(cli: Cli, flags: CommonFlags): boolean {
  return flags.home !== undefined || Boolean(cli.io.env['QUERENT_HOME'])
}

async function tokenFile(cli: Cli, path: string): Promise<unknown> {
  const failed = (code: 'io_failed' | 'invalid_json', error: unknown): QuerentError =>
    new QuerentError(
      code,
      `--tokens ${path}: ${code === 'io_failed' ? (error as Error).message : 'not JSON'}`,
      { path },
      error,
    )
  const text = await readFile(resolve(cli.io.workingFolder, path), 'utf8').catch((error: unknown) => {
    throw failed('io_failed', error)
  })
  try {
    return JSON.parse(text)
  } catch (error) {
    throw failed('invalid_json', error)
  }
}
