/**
 * Queries of the default lens that one kind of entry alone can answer, by their conditions, are delegated to the lens that ranks
 * that kind: the answer is the same whether or not the lens is named. Its code is loaded with the first such query.
 */
import type { Filter } from '../model/filter.ts'
import type { Plan, Stages } from '../pipeline/stage.ts'

/** A lens that such queries go to. */
export interface Delegate {
  readonly name: string
  readonly kinds: readonly string[]
  /** Aspects that only entries of these kinds have. */
  readonly aspects: readonly string[]
  stages(): Promise<Stages>
}

/** Name of the lens in a plan's facts. */
const DELEGATED_TO = 'delegated_to'

/** `own` stages, which leave each query that a delegate alone can answer to the delegate's. */
export function delegating(own: Stages, delegates: readonly Delegate[]): Stages {
  if (delegates.length === 0) return own
  const loaded = new Map<string, Stages>()
  const stagesOf = ({ facts }: Plan): Stages => loaded.get(String(facts[DELEGATED_TO])) ?? own
  return {
    parse: (query, context) => {
      const plan = own.parse(query, context)
      const { filter } = plan
      const delegate = filter === null ? undefined : delegates.find(each => isOnlyFor(filter, each))
      return delegate === undefined ? plan : { ...plan, facts: { ...plan.facts, [DELEGATED_TO]: delegate.name } }
    },
    enrich: async (plan, context) => {
      const delegate = delegates.find(({ name }) => name === plan.facts[DELEGATED_TO])
      if (delegate !== undefined && !loaded.has(delegate.name)) loaded.set(delegate.name, await delegate.stages())
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
function isOnlyFor(filter: Filter, delegate: Delegate): boolean {
  switch (filter.op) {
    case 'and':
      return filter.of.some(part => isOnlyFor(part, delegate))
    case 'or':
      return filter.of.length > 0 && filter.of.every(part => isOnlyFor(part, delegate))
    case 'not':
      return false
    default:
      return isOf(filter, delegate) || delegate.aspects.some(aspect => filter.field.startsWith(`${aspect}.`))
  }
}

function isOf(filter: Exclude<Filter, { of: unknown }>, { kinds }: Delegate): boolean {
  if (filter.field !== 'kind') return false
  if (filter.op === 'eq') return kinds.includes(String(filter.value))
  return filter.op === 'in' && filter.values.length > 0 && filter.values.every(value => kinds.includes(String(value)))
}
