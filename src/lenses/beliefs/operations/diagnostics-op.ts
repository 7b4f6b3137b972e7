/** For whoever runs the node. */
import type { Operation } from '../../../model/operation.ts'
import { OWNER } from '../../../model/partition.ts'
import type { LensHost } from '../../lens.ts'
import { answers, anything, described, FLAG, OBJECT } from '../../wire-schema.ts'
import { checkDiagnostics } from '../check/questions.ts'
import { unauthorized } from '../errors.ts'
import { diagnose } from '../questions/diagnostics.ts'
import { inCall } from './call.ts'

const diagnostics: Operation<LensHost> = {
  name: 'beliefs.diagnostics',
  summary: "Report the thresholds of the embedder's model, calibrated anew, and the counters; the owner's alone",
  input: anything({ calibrate: described(FLAG, 'Whether to run the calibration, some seconds; default true') }),
  output: answers({ calibration: OBJECT, counters: OBJECT, settings: OBJECT }),
  effect: { kind: 'read', idempotent: true },
  run: (host, input, context) =>
    inCall(host, context, ({ state, asker, signal }) => {
      const { calibrate } = checkDiagnostics(input)
      if (asker.id !== OWNER) throw unauthorized()
      return diagnose(state, calibrate, signal)
    }),
}

export const DIAGNOSTICS_OPERATIONS: readonly Operation<LensHost>[] = [diagnostics]
