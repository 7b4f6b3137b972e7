/**
 * Address of a module beside the asking one, for a `Worker`: the compiler turns `./x.ts` into `./x.js` in imports but
 * not in `new URL(...)`, so the ending is taken from the caller: `.ts` run from source, `.js` in the package.
 */
export function siblingModule(askerUrl: string, name: string): URL {
  return new URL(`./${name}${askerUrl.endsWith('.ts') ? '.ts' : '.js'}`, askerUrl)
}

/** Address of what lies in the package's own folder, asked by a module run from `src`, from `dist` or bundled in it. */
export function packageUrl(askerUrl: string, path: string): URL {
  const root = /^(.*)\/(?:src|dist)\//.exec(askerUrl)?.[1]
  if (root === undefined) throw new Error(`invariant broken: ${askerUrl} lies in no package`)
  return new URL(`${root}/${path}`)
}
