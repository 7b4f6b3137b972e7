/** How long histories may take: those of every day some minutes, those in full (QUERENT_LONG=1) an hour. */
export const PATIENCE_MS = process.env['QUERENT_LONG'] === '1' ? 3_600_000 : 600_000
