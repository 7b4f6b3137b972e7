/**
 * Address of a module in the same folder as the calling module, for a `Worker`. The compiler turns `./x.ts` into `./x.js` in imports but
 * not in `new URL(...)`, so the extension is taken from the caller: `.ts` when run from source, `.js` in the package.
 */
export function siblingModule(askerUrl: string, name: string): URL {
  return new URL(`./${name}${askerUrl.endsWith('.ts') ? '.ts' : '.js'}`, askerUrl)
}

/**
 * The `file:` URL of a file in the root folder of this package. The calling module may run from `src`, from `dist`, or bundled into a file
 * of `dist`.
 */
export function packageUrl(askerUrl: string, path: string): URL {
  const root = /^(.*)\/(?:src|dist)\//.exec(askerUrl)?.[1]
  if (root === undefined) throw new Error(`invariant broken: ${askerUrl} lies in no package`)
  return new URL(`${root}/${path}`)
}
