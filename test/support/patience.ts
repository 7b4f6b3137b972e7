/** Whether random tests run in full, with new cases each time (QUERENT_LONG=1). */
export const isLong: boolean = process.env['QUERENT_LONG'] === '1'

/** How long histories may take: those of every day some minutes, those in full an hour. */
export const PATIENCE_MS: number = isLong ? 3_600_000 : 600_000
