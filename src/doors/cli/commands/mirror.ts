/** `querent mirror`: for the local owner, whose entries leave the store. */
import { mirrorCollection } from '../../../engine/mirror.ts'
import { invalidArgument, QuerentError } from '../../../model/errors.ts'
import { isOwner } from '../../../model/viewer.ts'
import type { CommonFlags } from '../flags.ts'
import { write } from '../io.ts'
import { withProgress } from '../progress.ts'
import { all, each } from '../render/answer.ts'
import { oneLine } from '../render/style.ts'
import { type Cli, EXIT } from '../run.ts'
import { withSession } from '../session.ts'
import { print } from './print.ts'

interface MirrorFlags extends CommonFlags {
  readonly to: 'chromadb' | 'qdrant'
  readonly url?: string
  readonly tenant?: string
  readonly database?: string
}

const URL_VARIABLES = { chromadb: 'QUERENT_CHROMA_URL', qdrant: 'QUERENT_QDRANT_URL' } as const
const KEY_VARIABLES = { chromadb: 'QUERENT_CHROMA_TOKEN', qdrant: 'QUERENT_QDRANT_API_KEY' } as const

export async function runMirror(cli: Cli, flags: MirrorFlags, [collection = '']: readonly string[]): Promise<void> {
  const { to, tenant, database } = flags
  const variable = (name: string): string | undefined => cli.io.env[name] || undefined
  const url = flags.url ?? variable(URL_VARIABLES[to])
  if (url === undefined) throw invalidArgument('--url', '', `an address, here or in ${URL_VARIABLES[to]}`)
  const target = {
    ...{ collection, to, url },
    tenant: tenant ?? variable('QUERENT_CHROMA_TENANT'),
    database: database ?? variable('QUERENT_CHROMA_DATABASE'),
    token: variable(KEY_VARIABLES[to]),
    signal: cli.signal,
  }
  const outcome = await withProgress(cli.io, report =>
    withSession(cli, flags, { onlyLenses: [] }, ({ engine, context }) => {
      if (!isOwner(context.viewer)) throw new QuerentError('denied', 'mirror: only the local owner may', {})
      return mirrorCollection(engine, { ...target, report })
    }),
  )
  const { put, unchanged, refused, unowned } = outcome
  const counts = '{put} put, {removed} removed, {unchanged} unchanged, {waiting} waiting for a vector'
  await print(cli, flags, outcome, all(each('', counts), each('names', 'in {}')))
  for (const { id, reason } of refused) {
    await write(cli.io.stderr, `querent: ${oneLine(id)}: the server refuses it: ${oneLine(reason)}\n`)
  }
  for (const name of unowned) await write(cli.io.stderr, `querent: ${name}: ${UNOWNED}\n`)
  if (refused.length > 0 && put + unchanged === 0) cli.exitCode = EXIT.failed // a few among good ones are no failure
}

const UNOWNED =
  'an earlier version made it, and it holds records that this store does not know; it was left as it is; delete it there if it is yours'
