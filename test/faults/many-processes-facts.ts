/**
 * What several processes say of one store, in a file that all of them append to: a line is out before what follows it
 * begins, and stays when its writer is killed. Each thing written bears a word that nothing else ever bears, its token.
 */
import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs'

/**
 * Before an act `will` (token, act, place) and `leaving` (token), after it `written` (and the place where it was not known
 * before) and `gone`; `void`: it never came to be. `life`: a process begins again.
 * `edge`: a statement of trust, by its owner, target and level (`-` for none); `willEdge` before it.
 * `use`: so many uses of what is never changed, by a viewer; `willUse` before the question: at most so many.
 */
export type Fact =
  | readonly ['will', string, string, string]
  | readonly ['written', string, string]
  | readonly ['written' | 'leaving' | 'gone' | 'void' | 'life', string]
  | readonly ['willEdge' | 'edge', string, string, string]
  | readonly ['willUse' | 'use', string, number]

export type Standing = 'will' | 'written' | 'leaving' | 'gone' | 'void'

interface Uses {
  acknowledged: number
  pending: number
  unanswered: number
}

export class Facts implements Disposable {
  /** Of each token, what was said last. */
  readonly standing = new Map<string, Standing>()
  /** The act that it was written by: what one act writes is there together or not at all. */
  readonly acts = new Map<string, string>()
  /** Where it stands: `<kind>:<id>`. */
  readonly places = new Map<string, string>()
  /** Levels by owner and target; the second is what may have come after the first. */
  readonly edges = new Map<string, { acknowledged: string; pending: string | null }>()
  /** Uses by viewer: those acknowledged, and those of questions that were never answered. */
  readonly uses = new Map<string, Uses>()
  /** Tokens of which others may ask, oldest first. */
  readonly written: string[] = []
  readonly #file: number
  #read = 0
  #rest = ''

  constructor(path: string) {
    this.#file = openSync(path, 'a+')
  }

  say(...facts: readonly Fact[]): void {
    if (facts.length > 0) writeSync(this.#file, facts.map(fact => `${fact.join(' ')}\n`).join(''))
  }

  /** Takes in what was said since. */
  follow(): this {
    const { size } = fstatSync(this.#file)
    const bytes = Buffer.alloc(size - this.#read)
    this.#read += readSync(this.#file, bytes, 0, bytes.length, this.#read)
    const lines = (this.#rest + bytes.toString()).split('\n')
    this.#rest = lines.pop() as string
    for (const line of lines) this.#take(line.split(' '))
    return this
  }

  #take([what, name = '', second = '', third = '']: readonly string[]): void {
    switch (what) {
      case 'will':
        this.acts.set(name, second)
        this.places.set(name, third)
        this.standing.set(name, what)
        break
      case 'written':
        this.standing.set(name, what)
        this.written.push(name)
        if (second !== '') this.places.set(name, second)
        break
      case 'leaving':
      case 'gone':
      case 'void':
        this.standing.set(name, what)
        break
      case 'life':
        this.#endLife(this.#usesOf(name))
        break
      case 'willEdge':
        this.edges.set(`${name} ${second}`, { acknowledged: this.#level(name, second), pending: third })
        break
      case 'edge':
        this.edges.set(`${name} ${second}`, { acknowledged: third, pending: null })
        break
      case 'willUse':
        this.#usesOf(name).pending = Number(second)
        break
      case 'use':
        this.#usesOf(name).acknowledged += Number(second)
        this.#usesOf(name).pending = 0
        break
      default:
        throw new Error(`no fact: ${what}`)
    }
  }

  /** A question that was under way is answered no more, and may have counted. */
  #endLife(uses: Uses): void {
    uses.unanswered += uses.pending
    uses.pending = 0
  }

  #level(owner: string, target: string): string {
    return this.edges.get(`${owner} ${target}`)?.acknowledged ?? '-'
  }

  #usesOf(viewer: string): Uses {
    const uses = this.uses.get(viewer) ?? { acknowledged: 0, pending: 0, unanswered: 0 }
    this.uses.set(viewer, uses)
    return uses
  }

  [Symbol.dispose](): void {
    closeSync(this.#file)
  }
}

/** Of letters alone, so that no tokeniser parts it, and with an end that no stemmer takes off. */
export function tokenOf(process: number, number: number): string {
  const letters = Array.from({ length: 5 }, (_, at) => String.fromCharCode(97 + (Math.floor(number / 26 ** at) % 26)))
  return `q${String.fromCharCode(97 + process)}${letters.join('')}q`
}

export function tokensIn(text: string): readonly string[] {
  return text.match(/\bq[a-h][a-z]{5}q\b/g) ?? []
}
