/** `watch` and `beliefs watch`: what changes in an answer, until a signal ends it, which is a good end. */
import type { JsonObject } from '../../../base/canonical.ts'
import { invalidArgument } from '../../../model/errors.ts'
import type { LiveEvent } from '../../../model/live.ts'
import { findOperation } from '../../../ops/catalog.ts'
import { type Cli, write, writeJson, writeStyled } from '../io.ts'
import { type Flags, sessionFor } from '../operation-command.ts'
import { cut, oneLine, type Style, styleOf, valueAt } from '../render/answer.ts'
import { withSession } from '../session.ts'

/** What comes beside events: the subscription began, it still runs, or asking again has failed for now. */
type Notice =
  | { readonly type: 'subscribed'; readonly resume_token: string }
  | { readonly type: 'alive'; readonly resume_token: string }
  | { readonly type: 'error'; readonly error: { readonly message: string } }

/** Prints events as they come; in the end, on standard error, what to go on with. */
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
  const session = { ...sessionFor({ operation }, input), background: true }
  await withSession(cli, flags, session, async ({ catalog, stream }) => {
    try {
      for await (const piece of stream(findOperation(catalog, operation), input)) {
        // The cast: what operations that watch declare of their pieces.
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
/** Characters of what an item says: so many where there is hardly room, so many where there is any. */
const MIN_GIST = 20
const MAX_GIST = 100

/** `2026-03-01T12:00:00Z  added     docs/decay.md  Memory fades …  It is new and matches.` */
export function eventText(event: LiveEvent, style: Style, width: number = Number.POSITIVE_INFINITY): string {
  const { timestamp, type, id, passage, text } = event
  // Under another name in the contract of the lens beliefs.
  const item = event.item ?? (event as { readonly belief?: JsonObject }).belief
  const time = timestamp.replace(/\.\d+Z$/, 'Z')
  const paint = { added: style.good, updated: style.mark, removed: style.bad, reranked: style.dim }[type]
  const head = `${time}  ${type.padEnd(TYPE_WIDTH)}  ${oneLine(id)}${passage === undefined ? '' : `  passage ${passage}`}`
  const reason = oneLine(text)
  const room = Math.max(MIN_GIST, Math.min(MAX_GIST, width - head.length - reason.length - 4))
  const gist = item === undefined ? '' : `  ${cut(oneLine(gistOf(item)), room)}`
  return `${head.replace(type, paint(type))}${gist}  ${style.dim(reason)}\n`
}

/** What an item of any lens says, in short: its title and excerpt, or its content. */
function gistOf(item: JsonObject): string {
  const texts = ['title', 'excerpt.text', 'content', 'belief.content'].map(path => valueAt(item, path))
  const [first = '', second = ''] = texts.flatMap(text => (text ? [String(text).replace(/^#+ /, '')] : []))
  // An excerpt may begin with its title.
  return second === '' || second.startsWith(first) ? second || first : `${first}: ${second}`
}
