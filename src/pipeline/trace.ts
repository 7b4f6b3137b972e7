/** What each stage gave and what it cost. Times are measured, so they are the one part of an answer that varies. */
import type { JsonObject } from '../base/canonical.ts'
import type { StageTrace } from '../model/page.ts'

export class Trace {
  readonly #stages: StageTrace[] = []

  get stages(): readonly StageTrace[] {
    return this.#stages
  }

  add(stage: string, ms: number, out: number, detail?: JsonObject): void {
    this.#stages.push(detail === undefined ? { stage, ms, out } : { stage, ms, out, detail })
  }
}
