/** What a server is asked by many: most by words and meaning, some by words alone, by filter, over what is one's own. */
import { questions, SHARES } from '../big-store.ts'
import { HOLDER, HOLDER_COLLECTION, MEMBER } from '../people.ts'
import type { Asked } from './asking.ts'

const three = questions(3)
const eight = questions(8)
const [, [, five]] = SHARES as [unknown, readonly [string, number]]
/** Each text was asked before while fewer are in use than the engine keeps vectors of. */
const TEXTS = 400

type Form = (text: string, long: string) => { readonly viewer: string; readonly body: object }

/** Shares of ten. */
const FORMS: readonly Form[] = [
  ...Array<Form>(3).fill(text => ({ viewer: MEMBER.id, body: { text } })),
  text => ({ viewer: MEMBER.id, body: { text, explain: true } }),
  (_, long) => ({ viewer: MEMBER.id, body: { text: long } }),
  text => ({ viewer: MEMBER.id, body: { text, filter: { metadata: { bucket: { lt: five } } } } }),
  ...Array<Form>(2).fill(text => ({ viewer: HOLDER.id, body: { text, filter: { collections: [HOLDER_COLLECTION] } } })),
  ...Array<Form>(2).fill(text => ({ viewer: MEMBER.id, body: { text, mode: 'words' } })),
]

export const MIX =
  '10 requests: 3 plain, 1 explained, 1 of 8 words, 1 filtered to 5 %, 2 over an own partition, 2 by words'

export function mixed(n: number): Asked {
  // A prime step: no form always meets the same texts.
  const at = (n * 7) % TEXTS
  const form = FORMS[n % FORMS.length] as Form
  return { path: '/v1/query', ...form(three[at] as string, eight[at] as string) }
}

/** Enough for each text to have been asked once in each form. */
export const WARMING: number = TEXTS * FORMS.length
