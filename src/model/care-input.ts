/** What one may ask of a doctor and of a backup. */
import { z } from 'zod'
import type { ReadonlyDeep } from '../base/readonly-deep.ts'

export const doctorInput = z.strictObject({
  repair: z.boolean().optional().describe('Repair what can be rebuilt. Default: false'),
  backup: z.boolean().optional().describe('Copy the store before a repair. Default: true'),
})
export type DoctorRequest = ReadonlyDeep<z.output<typeof doctorInput>>

export const backupInput = z.strictObject({
  to: z.string().min(1).max(4096).describe('Absolute path of the file to make'),
  overwrite: z
    .boolean()
    .optional()
    .describe('Replace an existing backup; other files are never overwritten. Default: false'),
})
export type BackupRequest = ReadonlyDeep<z.output<typeof backupInput>>
