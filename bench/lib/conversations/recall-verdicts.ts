/** How often the verdict of `recall` is right: questions of a conversation, and questions of other subjects asked of it. */
import type { Embedder } from '../../../src/embed/embedder.ts'
import { openEngine } from '../../../src/engine/open.ts'
import type { Verdict } from '../../../src/model/page.ts'
import { tempFolder } from '../../../test/support/temp-folder.ts'
import { lent } from '../local-embedder.ts'
import type { Row } from '../report.ts'
import { type QuestionSet, UNANSWERABLE } from './labelled-set.ts'
import { type ChatAnswer, chatRequester, importAll } from './product.ts'

const GOALS = { hybrid: 5, words: 10 } as const
const MAX_REFUSED = 2

/** `foreign`: questions of other subjects, each asked of every conversation. */
export async function recallVerdictRows(
  { conversations, questions }: QuestionSet,
  foreign: readonly string[],
  embedder: Embedder,
): Promise<readonly Row[]> {
  using folder = tempFolder()
  await using engine = await openEngine({
    ...{ home: folder.file('home'), create: true, embedder: lent(embedder), background: false },
  })
  await importAll(engine, conversations, folder.file('chats.jsonl'))
  await engine.embedded()
  const ask = chatRequester(engine)
  const verdict = async (text: string, conversation: string, mode: 'hybrid' | 'words') =>
    ((await ask({ text, conversations: [conversation], mode })) as ChatAnswer & { verdict: Verdict }).verdict
  const rows: Row[] = []
  for (const mode of ['hybrid', 'words'] as const) {
    const own: Verdict[] = []
    for (const { text, conversation, category } of questions) {
      if (category !== UNANSWERABLE) own.push(await verdict(text, conversation, mode))
    }
    const others: Verdict[] = []
    for (const { id } of conversations) for (const text of foreign) others.push(await verdict(text, id, mode))
    const share = (of: readonly Verdict[], one: Verdict) => (100 * of.filter(each => each === one).length) / of.length
    const row = (name: string, value: number, most?: number): Row => ({
      ...{ name: `recall, ${mode}, ${name}`, unit: '%', value },
      ...(most !== undefined && { goal: `<= ${most}`, ok: value <= most }),
    })
    rows.push(
      row('own questions answered', share(own, 'answered')),
      row('own questions refused', share(own, 'nothing_relevant'), MAX_REFUSED),
      row('foreign questions answered', share(others, 'answered'), GOALS[mode]),
      row('foreign questions called weak', share(others, 'weak')),
    )
  }
  return rows
}
