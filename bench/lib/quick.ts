/** `QUERENT_QUICK=1` asks for small stores and few rounds: enough to see that a benchmark works, not what it says. */
export const quick: boolean = Boolean(process.env['QUERENT_QUICK'])
