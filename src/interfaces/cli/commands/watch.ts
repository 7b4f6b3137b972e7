/** `watch` and `beliefs watch`: print the changes of an answer, until a signal ends the command, which counts as success. */
import type { JsonObject } from '../../../base/canonical.ts'
import { invalidArgument } from '../../../model/errors.ts'
import type { LiveEvent } from '../../../model/live.ts'
import { findOperation } from '../../../ops/catalog.ts'
import { type Cli, write, writeJson, writeStyled } from '../io.ts'
import { type Flags, sessionFor } from '../operation-command.ts'
import { cut, oneLine, type Style, styleOf, valueAt } from '../render/answer.ts'
import { withSession } from '../session.ts'

/**
 * Messages of a watched answer other than changes: the subscription has begun, it is still alive, or repeating the query has failed for
 * now.
 */
type Notice =
  | { readonly type: 'subscribed'; readonly resume_token: string }
  | { readonly type: 'alive'; readonly resume_token: string }
  | { readonly type: 'error'; readonly error: { readonly message: string } }

/** Prints the changes of an answer as they arrive; at the end, prints on standard error how to resume watching. */
export async function watchOperation(cli: Cli, flags: Flags, operation: string, input: JsonObject): Promise<void> {
  const count = (flags['count'] as number | undefined) ?? Number.POSITIVE_INFINITY
  if (count < 1) throw invalidArgument('--count', count, 'at least 1')
  cli.endsBySignal = true
  const { stdout, stderr } = cli.io
  const style = styleOf(cli.io)
  let last: string | null = null
  let printed = 0
  let isFailing = false
  const show = async (event: LiveEvent | Notice): Promise<void> => {
    if (event.type === 'error') {
      isFailing = true
      return write(stderr, `querent: ${event.error.message}; the query will be repeated\n`)
    }
    if (isFailing) await write(stderr, 'querent: the query works again\n')
    isFailing = false
    last = event.resume_token
    if (event.type === 'alive') return
    if (event.type === 'subscribed') return write(stderr, 'querent: watching; Ctrl-C ends\n')
    printed += 1
    if (flags.json) await writeJson(stdout, event)
    else await writeStyled(stdout, eventText(event, style, stdout.columns))
  }
  const session = { ...(await sessionFor({ operation }, input)), background: true }
  await withSession(cli, flags, session, async ({ catalog, stream }) => {
    try {
      for await (const piece of stream(findOperation(catalog, operation), input)) {
        // The cast is safe: the operations that watch an answer declare that each message of their stream is an event or a notice.
        await show(piece as unknown as LiveEvent | Notice)
        if (printed >= count) break
      }
    } catch (error) {
      if (!cli.signal.aborted) throw error
    } finally {
      if (last !== null) await write(stderr, `querent: to continue from here: --resume ${last}\n`)
    }
  })
}

const TYPE_WIDTH = 8
/** Minimum and maximum number of characters of the summary of a changed item; within these bounds it fits the terminal's width. */
const MIN_GIST = 20
const MAX_GIST = 100

/** Formats one change of an answer as a line: `2026-03-01T12:00:00Z  added     docs/decay.md  Memory fades …  It is new and matches.` */
export function eventText(event: LiveEvent, style: Style, width: number = Number.POSITIVE_INFINITY): string {
  const { timestamp, type, id, passage, text } = event
  // Events of the lens `beliefs` have the changed item in the field `belief`.
  const item = event.item ?? (event as { readonly belief?: JsonObject }).belief
  const time = timestamp.replace(/\.\d+Z$/, 'Z')
  const paint = { added: style.good, updated: style.mark, removed: style.bad, reranked: style.dim }[type]
  const head = `${time}  ${type.padEnd(TYPE_WIDTH)}  ${oneLine(id)}${passage === undefined ? '' : `  passage ${passage}`}`
  const reason = oneLine(text)
  const room = Math.max(MIN_GIST, Math.min(MAX_GIST, width - head.length - reason.length - 4))
  const gist = item === undefined ? '' : `  ${cut(oneLine(gistOf(item)), room)}`
  return `${head.replace(type, paint(type))}${gist}  ${style.dim(reason)}\n`
}

/** Short summary of an item of any lens: its title followed by its excerpt, or its content. */
function gistOf(item: JsonObject): string {
  const texts = ['title', 'excerpt.text', 'content', 'belief.content'].map(path => valueAt(item, path))
  const [first = '', second = ''] = texts.flatMap(text => (text ? [String(text).replace(/^#+ /, '')] : []))
  // If the excerpt begins with the title, the title is not repeated.
  return second === '' || second.startsWith(first) ? second || first : `${first}: ${second}`
}
