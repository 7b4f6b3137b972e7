/**
 * Where the name of a module leads: to a file of the workspace, out of it to a package, or to a package of the workspace
 * that is several files, of which `fileOf` finds the one that declares a name (null: none, or it is not certain which).
 */
export type Module =
  | { readonly path: string }
  | { readonly package: string; readonly fileOf?: (name: string) => string | null }
