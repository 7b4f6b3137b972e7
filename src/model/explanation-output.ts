/** Schema of an explanation in an answer. Apart from the type, which the explorer uses without a checker. */
import { z } from 'zod'
import type { Explanation } from './explanation.ts'

export const explanationOutput: z.ZodType<Explanation> = z
  .strictObject({
    label: z.string().describe('What is measured'),
    value: z.number().describe('Its figure: a score, or what a score is made of'),
    formula: z
      .enum(['sum', 'product', 'quotient', 'max'])
      .optional()
      .describe('How the value follows from the children; absent: it is a fact'),
    get children(): z.ZodOptional<z.ZodArray<z.ZodType<Explanation>>> {
      return z.array(explanationOutput).optional().describe('What the value is made of')
    },
    note: z.string().optional().describe('A remark for readers: a unit, a source, what was matched'),
  })
  .register(z.globalRegistry, { id: 'Explanation' })
