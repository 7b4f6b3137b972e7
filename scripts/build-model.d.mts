/** Types of build-model.mjs, for the tests and benches that call it. */
export declare const DEFAULT_MODEL_FOLDER: string
export declare function buildModel(targetFolder?: string): { readonly built: boolean; readonly folder: string }
export declare function buildUnsignedForm(): Buffer
