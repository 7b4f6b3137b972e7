/** A page in the user's own browser. */
import { type Io, write } from './io.ts'

/** Never fails: where no browser can be opened, it says so in a line. On Linux the variable BROWSER names one. */
export async function openBrowser(io: Io, url: string): Promise<void> {
  const failed = (): void => void write(io.stderr, `querent: no browser could be opened; the page is at ${url}\n`)
  try {
    const { default: open } = await import('open')
    const opener = await open(reachable(url))
    opener.once('exit', code => {
      if (code !== 0) failed()
    })
  } catch {
    failed()
  }
}

/** Who listens on all addresses is reached at its own. */
function reachable(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
}
