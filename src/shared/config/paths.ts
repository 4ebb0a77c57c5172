/** Completes a relative path with a folder that ends in `/`. nginx: ngx_get_full_name. */
export function resolvePath(path: string, folder: string): string {
  return path.startsWith('/') ? path : folder + path;
}
