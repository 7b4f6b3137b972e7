/** Where the name of a module leads: to a file of the workspace, or out of it to a package. */
export type Module = { readonly path: string } | { readonly package: string }
