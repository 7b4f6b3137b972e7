/** `recall`: what was said, for a question. */
import type { PhraseUse, Syntax } from '../../../model/query.ts'
import { findOperation } from '../../../ops/catalog.ts'
import { EXIT } from '../failure.ts'
import { type CommonFlags, timeoutMs } from '../flags.ts'
import { type Recalled, recallText } from '../render/recall.ts'
import type { Cli } from '../run.ts'
import { withSession } from '../session.ts'
import { questionText } from './ask.ts'
import { print } from './print.ts'

export interface RecallFlags extends CommonFlags {
  readonly conversation?: readonly string[]
  readonly speaker?: readonly string[]
  readonly role?: readonly string[]
  readonly since?: string
  readonly until?: string
  readonly limit?: number
  readonly cursor?: string
  readonly maxTokens?: number
  readonly neighbours?: number
  readonly asOf?: string
  readonly words?: true
  readonly syntax?: Syntax
  readonly phrase?: PhraseUse
  readonly touch?: boolean
  readonly explain?: true
  readonly failEmpty?: true
  readonly timeout?: number
}

export async function runRecall(cli: Cli, words: readonly string[], flags: RecallFlags): Promise<void> {
  const { since, until, limit, cursor, neighbours, explain } = flags
  const input = {
    text: await questionText(cli, words),
    ...{ conversations: flags.conversation, speakers: flags.speaker, roles: flags.role },
    ...{ since, until, limit, cursor, neighbours, explain, max_tokens: flags.maxTokens, as_of: flags.asOf },
    ...(flags.words && { mode: 'words' }),
    timeout_ms: timeoutMs(flags.timeout),
    ...{ syntax: flags.syntax, phrase: flags.phrase, touch: flags.touch },
  }
  const options = { warm: flags.words !== true, onlyLenses: ['conversations'] }
  const answer = (await withSession(cli, flags, options, ({ catalog, run }) =>
    run(findOperation(catalog, 'conversations.query'), input),
  )) as unknown as Recalled
  await print(cli, flags, answer, { table: style => recallText(answer, style) })
  if (flags.failEmpty && answer.verdict === 'nothing_relevant') cli.exitCode = EXIT.nothingRelevant
}
