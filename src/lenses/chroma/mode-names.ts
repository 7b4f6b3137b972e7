/** Memory modes, fastest fading first. Apart from the schemas: the explorer needs the names without their checks. */
export const MODE_NAMES = ['Sparse', 'Adaptive', 'Spacey', 'Eidetic'] as const
export type ModeName = (typeof MODE_NAMES)[number]
