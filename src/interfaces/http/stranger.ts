/** Requests of whom nobody knows. */
import { reportedByContract } from '../../engine/run-operation.ts'
import type { RequestContext } from './env.ts'
import { operationAt } from './routes/mount.ts'

/** What is wrong with the requester, in the form of the contract of the operation (BQ-184, CQ-120). */
export function strangerView(c: RequestContext, thrown: unknown): unknown {
  const { engine, catalog } = c.get('app')
  const operation = operationAt(catalog, c.req.method, c.req.path)
  const nobody = { viewer: { id: '' }, signal: c.req.raw.signal }
  return operation === undefined ? thrown : reportedByContract(operation, engine, thrown, nobody)
}
