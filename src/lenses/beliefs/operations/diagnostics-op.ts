/** For whoever runs the node. */
import { OWNER } from '../../../model/partition.ts'
import { unauthorized } from '../errors.ts'
import { diagnose } from '../questions/diagnostics.ts'
import { diagnosticsAnswer } from '../schema/answers.ts'
import { diagnosticsInput } from '../schema/questions.ts'
import { operation } from './call.ts'

const diagnostics = operation({
  name: 'beliefs.diagnostics',
  summary: "Report the thresholds of the embedder's model, calibrated anew, and the counters; the owner's alone",
  input: diagnosticsInput,
  output: diagnosticsAnswer,
  effect: { kind: 'read', idempotent: true },
  run: ({ state, agent, signal }, { calibrate = true }) => {
    if (agent.id !== OWNER) throw unauthorized()
    return diagnose(state, calibrate, signal)
  },
})

export const DIAGNOSTICS_OPERATIONS = [diagnostics] as const
