export const httpDate = (ms: number): string => new Date(ms).toUTCString();
export const currentHttpDate = (): string => new Date().toUTCString();
