export const httpDate = (ms: number): string => new Date(ms).toUTCString();
export const currentHttpDate = (): string => new Date().toUTCString();
export const parseHttpDate = (text: string): number | undefined => {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : Math.floor(ms / 1000);
};
