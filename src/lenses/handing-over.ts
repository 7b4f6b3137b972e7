/**
 * Questions of the default lens that one kind of entry alone can answer, by their conditions, go to the lens that ranks that
 * kind: so it is asked alike whether or not it is named. Its code is loaded when the first such question comes.
 */
import type { Filter } from '../model/filter.ts'
import type { Plan, Stages } from '../pipeline/stage.ts'

export interface Taker {
  readonly name: string
  readonly kinds: readonly string[]
  /** Aspects that only entries of these kinds have. */
  readonly aspects: readonly string[]
  stages(): Promise<Stages>
}

/** Name of the lens in a plan's facts. */
const TAKEN_BY = 'taken_by'

export function handingOver(own: Stages, takers: readonly Taker[]): Stages {
  if (takers.length === 0) return own
  const loaded = new Map<string, Stages>()
  const stagesOf = ({ facts }: Plan): Stages => loaded.get(String(facts[TAKEN_BY])) ?? own
  return {
    parse: (query, context) => {
      const plan = own.parse(query, context)
      const { filter } = plan
      const taker = filter === null ? undefined : takers.find(each => isOnlyFor(filter, each))
      return taker === undefined ? plan : { ...plan, facts: { ...plan.facts, [TAKEN_BY]: taker.name } }
    },
    enrich: async (plan, context) => {
      const taker = takers.find(({ name }) => name === plan.facts[TAKEN_BY])
      if (taker !== undefined && !loaded.has(taker.name)) loaded.set(taker.name, await taker.stages())
      return stagesOf(plan).enrich(plan, context)
    },
    respell: function* (plan, context) {
      const { respell } = stagesOf(plan)
      return respell === undefined ? null : yield* respell(plan, context)
    },
    retrieve: (plan, depth, context) => stagesOf(plan).retrieve(plan, depth, context),
    score: (retrieval, plan, context) => stagesOf(plan).score(retrieval, plan, context),
    diversify: (scoring, plan, context) => stagesOf(plan).diversify(scoring, plan, context),
    present: (ranking, retrieval, plan, context) => stagesOf(plan).present(ranking, retrieval, plan, context),
  }
}

/** Whether nothing but entries of these kinds, or with these aspects, can fulfil the filter. */
function isOnlyFor(filter: Filter, taker: Taker): boolean {
  switch (filter.op) {
    case 'and':
      return filter.of.some(part => isOnlyFor(part, taker))
    case 'or':
      return filter.of.length > 0 && filter.of.every(part => isOnlyFor(part, taker))
    case 'not':
      return false
    default:
      return isOf(filter, taker) || taker.aspects.some(aspect => filter.field.startsWith(`${aspect}.`))
  }
}

function isOf(filter: Exclude<Filter, { of: unknown }>, { kinds }: Taker): boolean {
  if (filter.field !== 'kind') return false
  if (filter.op === 'eq') return kinds.includes(String(filter.value))
  return filter.op === 'in' && filter.values.length > 0 && filter.values.every(value => kinds.includes(String(value)))
}
