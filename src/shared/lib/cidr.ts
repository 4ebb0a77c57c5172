export const parseCidr = (_s: string): { contains(a: string): boolean }[] => [];
