/** What one may ask of a doctor and of a backup. */
import { z } from 'zod'

export interface DoctorRequest {
  /** Repair what can be made again from what is there. Default false. */
  readonly repair?: boolean | undefined
  /** With `repair`: copy the store beside itself before it is written to. Default true. */
  readonly backup?: boolean | undefined
}

export const doctorInput: z.ZodType<DoctorRequest, DoctorRequest> = z.strictObject({
  repair: z.boolean().optional().describe('Repair what can be rebuilt. Default: false'),
  backup: z.boolean().optional().describe('Copy the store before a repair. Default: true'),
})

export interface BackupRequest {
  /** Absolute path of the file to make. */
  readonly to: string
  /** Take the place of a backup that is there; no other file is overwritten. Default false. */
  readonly overwrite?: boolean | undefined
}

export const backupInput: z.ZodType<BackupRequest, BackupRequest> = z.strictObject({
  to: z.string().min(1).max(4096).describe('Absolute path of the file to make'),
  overwrite: z
    .boolean()
    .optional()
    .describe('Replace an existing backup; other files are never overwritten. Default: false'),
})
