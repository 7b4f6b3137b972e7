/** `watch` and `beliefs watch`: what changes in an answer, until a signal ends it, which is a good end. */
import type { JsonObject } from '../../../base/canonical.ts'
import { invalidArgument } from '../../../model/errors.ts'
import type { LiveEvent } from '../../../model/live.ts'
import { findOperation } from '../../../ops/catalog.ts'
import { write, writeJson, writeStyled } from '../io.ts'
import { type Flags, sessionFor } from '../operation-command.ts'
import { eventText } from '../render/live.ts'
import { styleOf } from '../render/style.ts'
import type { Cli } from '../run.ts'
import { withSession } from '../session.ts'

interface Begun {
  readonly type: 'subscribed'
  readonly resume_token: string
}

/** It still stands, and nothing has changed. */
interface Alive {
  readonly type: 'alive'
  readonly resume_token: string
}

/** Asking again has failed for now. */
interface Failed {
  readonly type: 'error'
  readonly error: { readonly message: string }
}

/** Prints events as they come; in the end, on standard error, what to go on with. */
export async function watchOperation(cli: Cli, flags: Flags, operation: string, input: JsonObject): Promise<void> {
  const count = (flags['count'] as number | undefined) ?? Number.POSITIVE_INFINITY
  if (count < 1) throw invalidArgument('--count', count, 'at least 1')
  cli.endsBySignal = true
  const style = styleOf(cli.io)
  const { columns } = cli.io.stdout
  let last: string | null = null
  let told = 0
  let isFailing = false
  await withSession(
    cli,
    flags,
    { ...sessionFor({ operation }, input), background: true },
    async ({ catalog, stream }) => {
      try {
        for await (const piece of stream(findOperation(catalog, operation), input)) {
          // The cast: what operations that watch declare of their pieces. The first says that the question stands.
          const event = piece as unknown as LiveEvent | Begun | Alive | Failed
          if (event.type === 'error') {
            await write(cli.io.stderr, `querent: ${event.error.message}; it is asked again\n`)
            isFailing = true
            continue
          }
          if (isFailing) await write(cli.io.stderr, 'querent: it is answered again\n')
          isFailing = false
          last = event.resume_token
          if (event.type === 'alive') continue
          if (event.type === 'subscribed') {
            await write(cli.io.stderr, 'querent: watching; Ctrl-C ends\n')
            continue
          }
          if (flags.json) await writeJson(cli.io.stdout, event)
          else await writeStyled(cli.io.stdout, eventText(event, style, columns))
          told += 1
          if (told >= count) break
        }
      } catch (error) {
        if (!cli.signal.aborted) throw error
      } finally {
        if (last !== null) await write(cli.io.stderr, `querent: to go on from here: --resume ${last}\n`)
      }
    },
  )
}
