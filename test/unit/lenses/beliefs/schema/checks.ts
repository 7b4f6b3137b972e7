/** Requests as operations check and read them, by name: what tests give, and what it comes to. */
import type { z } from 'zod'
import * as agents from '../../../../../src/lenses/beliefs/schema/agents.ts'
import * as belief from '../../../../../src/lenses/beliefs/schema/belief.ts'
import { parseRequest, request } from '../../../../../src/lenses/beliefs/schema/faults.ts'
import * as contexts from '../../../../../src/lenses/beliefs/schema/filters.ts'
import * as query from '../../../../../src/lenses/beliefs/schema/query.ts'
import * as questions from '../../../../../src/lenses/beliefs/schema/questions.ts'

type Requester = contexts.Requester

function reader<T extends z.ZodType, R>(schema: T, read: (value: z.output<T>, requester: Requester) => R) {
  return (input: unknown, requester: Requester): R => read(parseRequest(schema, input), requester)
}

const contextRequest = request(contexts.context)
const optionsRequest = request(query.options)
const scopeRequest = request(query.scope)
const draftRequest = request(belief.newBelief)
const revisionRequest = request(belief.revision)

export const checkQuery = reader(query.queryInput, query.toQuery)
export const checkStreamedQuery = reader(query.streamedInput, (value, requester) =>
  query.toQuery(value as query.Query, requester),
)

export function checkContext(input: unknown, requester: Requester): contexts.CheckedContext {
  return contexts.toContext(
    input === undefined ? undefined : parseRequest(contextRequest, input, ['context']),
    requester,
  )
}

export function checkOptions(input: unknown): query.CheckedOptions {
  return query.toOptions(input === undefined ? undefined : parseRequest(optionsRequest, input, ['options']))
}

export function checkScope(input: unknown): query.CheckedScope {
  return query.toScope(input === undefined ? undefined : parseRequest(scopeRequest, input, ['options', 'scope']))
}

export function checkDraft(input: unknown, asOf: number): belief.BeliefDraft {
  return belief.toDrafts([parseRequest(draftRequest, input)], asOf)[0] as belief.BeliefDraft
}

export function checkPut(input: unknown, asOf: number): ReturnType<typeof belief.toPut> & { readonly wait: boolean } {
  const put = parseRequest(belief.putInput, input)
  return { ...belief.toPut(put, asOf), wait: put.wait ?? true }
}

export const checkRevision = (input: unknown) => parseRequest(revisionRequest, input)
export const checkSupersede = (input: unknown) => parseRequest(belief.supersedeInput, input)
export const checkExplain = reader(questions.explainInput, questions.toExplain)
export const checkFacets = reader(questions.facetsInput, questions.toFacets)
export const checkSimilar = reader(questions.similarInput, questions.toSimilar)
export const checkContradictions = reader(questions.contradictionsInput, questions.toContradictions)
export const checkContextQuery = reader(questions.contextQueryInput, questions.toContextQuery)
export const checkBatch = (input: unknown) => parseRequest(questions.batchInput, input).queries as readonly unknown[]
export const checkDerivation = (input: unknown) => parseRequest(questions.derivationInput, input)
export const checkGet = (input: unknown) => parseRequest(questions.getInput, input)
export const checkEdge = (input: unknown) => agents.toEdge(parseRequest(agents.trustSetInput, input))
export const checkAgent = (input: unknown) => parseRequest(agents.agentInput, input)
export const checkFederation = (input: unknown) => parseRequest(agents.federationInput, input)
export const checkMember = (input: unknown) => parseRequest(agents.memberInput, input)
export const checkFederationOnly = (input: unknown) => parseRequest(agents.federationOnly, input)
export const checkTrustQuestion = reader(agents.trustComputeInput, ({ target, context }, requester) => {
  return { target, context: contexts.toContext(context, requester) }
})
