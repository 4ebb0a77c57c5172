console.error('sluice: under construction');
