/** The page that `--more` asks for: kept in the home of the store, for the viewer and the command that had the one before. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '../../../base/canonical.ts'
import { QuerentError } from '../../../model/errors.ts'
import type { CommonFlags } from '../flags.ts'
import type { Cli } from '../run.ts'
import { homeFor, viewerOf } from '../session.ts'

interface NextPage {
  readonly command: string
  readonly viewer: string
  /** With the cursor. */
  readonly input: JsonObject
}

/** Null: there is none. A home that cannot be written keeps none. */
export function keepNextPage(cli: Cli, flags: CommonFlags, command: string, input: JsonObject | null): void {
  try {
    const file = fileOf(cli, flags)
    const page = { command, viewer: viewerNow(cli, flags), input }
    if (input === null) rmSync(file, { force: true })
    else writeFileSync(file, JSON.stringify(page), { mode: 0o600 })
  } catch {
    // Then --more says that there is none.
  }
}

/** Throws `not_found` where this viewer's last answer of this command had no further page. */
export function nextPage(cli: Cli, flags: CommonFlags, command: string): JsonObject {
  const page = read(fileOf(cli, flags))
  if (page?.command === command && page.viewer === viewerNow(cli, flags)) return page.input
  const message = `--more: there is no further page of \`querent ${command}\`; run it with a question first`
  throw new QuerentError('not_found', message, { field: '--more' })
}

function read(file: string): NextPage | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as NextPage
  } catch {
    return null
  }
}

function viewerNow({ io }: Cli, flags: CommonFlags): string {
  return viewerOf(flags.viewer, io.env['QUERENT_VIEWER']).id
}

function fileOf(cli: Cli, flags: CommonFlags): string {
  return join(homeFor(cli, flags).folder, 'last-page.json')
}
