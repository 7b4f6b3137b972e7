/** `remember`: one message or note. */
import { findOperation } from '../../../ops/catalog.ts'
import type { CommonFlags } from '../flags.ts'
import { oneLine } from '../render/style.ts'
import type { Cli } from '../run.ts'
import { withSession } from '../session.ts'
import { pipedText } from './input.ts'
import { print } from './print.ts'

interface RememberFlags extends CommonFlags {
  readonly speaker?: string
  readonly conversation?: string
  readonly at?: string
  readonly role?: 'user' | 'assistant' | 'system' | 'tool'
  readonly session?: string
  readonly replyTo?: string
  readonly id?: string
  readonly collection?: string
  readonly tag?: readonly string[]
  readonly visibility?: 'private' | 'public' | 'shared'
  readonly federation?: readonly string[]
  readonly wait?: true
}

/** `text`: `-` for standard input. */
export async function runRemember(cli: Cli, text: string, flags: RememberFlags): Promise<void> {
  const { speaker, conversation, at, role, session, id, collection, visibility, wait } = flags
  const input = {
    text: text === '-' ? await pipedText(cli) : text,
    ...{ speaker, conversation, at, role, session, id, collection, visibility, wait },
    ...{ reply_to: flags.replyTo, tags: flags.tag, federations: flags.federation },
  }
  const options = { create: true, onlyLenses: ['conversations'] }
  const answer = (await withSession(cli, flags, options, ({ catalog, run }) =>
    run(findOperation(catalog, 'conversations.remember'), input),
  )) as { readonly id: string }
  await print(cli, flags, answer, { table: () => `${oneLine(answer.id)}\n` })
}
