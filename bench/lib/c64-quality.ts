/** The labelled questions about the Commodore 64, and how well the lens answers them with and without enrichment. */
import { readFileSync } from 'node:fs'
import type { OpenC64 } from '../../src/openings/c64.ts'
import { ndcg, recall } from './collections.ts'

export interface LabelledQuestion {
  readonly question: string
  /** Records that answer it. */
  readonly relevant: readonly string[]
  /** `named`: holds an address, a name, a mnemonic or a colour as records do; `plain`: says it in other words. */
  readonly kind: 'named' | 'plain'
  /**
   * `tuned on`: looked at while the score and the everyday words were chosen. `held out`: written when both were fixed, for
   * records drawn by lot; nothing was changed for them since.
   */
  readonly part: 'tuned on' | 'held out'
}

export interface C64Quality {
  /** Mean reciprocal rank of the first record that answers. */
  readonly mrr: number
  readonly ndcg: number
  readonly recall: number
  readonly questions: number
}

const FILE = new URL('../data/c64-questions.json', import.meta.url)

export function labelledQuestions(): readonly LabelledQuestion[] {
  return JSON.parse(readFileSync(FILE, 'utf8')) as readonly LabelledQuestion[]
}

export interface AskedQuestion extends LabelledQuestion {
  /** Ids of the results, best first. */
  readonly found: readonly string[]
}

export async function askAll(c64: OpenC64, raw: boolean): Promise<readonly AskedQuestion[]> {
  const asked: AskedQuestion[] = []
  for (const question of labelledQuestions()) {
    const { results } = await c64.query(question.question, { raw })
    asked.push({ ...question, found: results.map(({ id }) => String(id)) })
  }
  return asked
}

/** Over the 15 results that are shown; nDCG over ten. */
export function qualityOf(asked: readonly AskedQuestion[]): C64Quality {
  const mean = (of: (question: AskedQuestion) => number) =>
    asked.reduce((sum, question) => sum + of(question), 0) / asked.length
  return {
    mrr: mean(({ found, relevant }) => {
      const at = found.findIndex(id => relevant.includes(id))
      return at < 0 ? 0 : 1 / (at + 1)
    }),
    ndcg: mean(({ found, relevant }) => ndcg(found, new Set(relevant), 10)),
    recall: mean(({ found, relevant }) => recall(found, new Set(relevant), 15)),
    questions: asked.length,
  }
}
